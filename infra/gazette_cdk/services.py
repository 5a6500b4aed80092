"""The routes of the API for services, as plain data.

The routes are in `gazette.adapters.api`. A test compares them with this list.
"""

from dataclasses import dataclass

from gazette_cdk.topology import API, API_WRITES, Step


@dataclass(frozen=True, kw_only=True)
class Route:
    """A route of the API for services."""

    method: str
    path: str

    # The function that answers the route.
    step: Step

    # The managed policy that allows calls of the route, such as `reads`.
    policy: str

    # The entry of `services_api` that turns the route on. Empty: the route always exists.
    option: str = ""

    @property
    def key(self) -> str:
        """The key of the route, such as `GET /v1/event`."""
        return f"{self.method} {self.path}"


READS = "reads"
SETTINGS = "settings"
CONSENT = "consent"
PRIVACY = "privacy"
DELIVERY_EVENTS = "delivery-events"

RATE = "requests_per_second"
"""The entry of `services_api` that limits the rate. The burst limit is twice as much."""

RETURN = "return"
"""The entry of `services_api` that lets services return subscribers on a new consent."""

ROUTES = (
    Route(method="GET", path="/v1/subscriber", step=API, policy=READS),
    Route(method="GET", path="/v1/subscriber/emails", step=API, policy=READS),
    Route(method="GET", path="/v1/subscriber/export", step=API, policy=PRIVACY),
    Route(method="GET", path="/v1/event", step=API, policy=READS),
    Route(method="GET", path="/v1/activity", step=API, policy=READS),
    Route(method="GET", path="/v1/entity", step=API, policy=READS),
    Route(method="PATCH", path="/v1/subscriber/choices", step=API_WRITES, policy=SETTINGS),
    Route(method="POST", path="/v1/subscriber/link", step=API, policy=SETTINGS),
    Route(
        method="POST",
        path="/v1/subscriber/return",
        step=API_WRITES,
        policy=CONSENT,
        option=RETURN,
    ),
    Route(method="POST", path="/v1/delivery-event", step=API_WRITES, policy=DELIVERY_EVENTS),
)
"""All routes. Backends of settings pages need `reads` and `settings`, because they also read."""

POLICIES = {
    READS: "Read the preferences, emails and receipts of subscribers",
    SETTINGS: "Change the preferences of subscribers, and create links to their preference pages",
    CONSENT: "Return subscribers who unsubscribed, on a new consent",
    PRIVACY: "Export everything that is stored on a person",
    DELIVERY_EVENTS: "Report the delivery events of a mail provider",
}
"""The managed policies, and their descriptions. A policy without a route does not exist."""
