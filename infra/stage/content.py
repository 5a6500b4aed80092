"""What digests contain beside events: items of a content source."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gazette.settings.ranges import ASKED_SOURCE, LISTS

from infra.stage.checks.wrong import Wrong

_URL = re.compile(
    r"https://[A-Za-z0-9\[][!-~]*|http://(?:localhost|127\.0\.0\.1|\[::1\])[:/][!-~]*"
)
_PICTURE = re.compile(r"https://[A-Za-z0-9\[][!-~]*")
_SECRET_NAME = re.compile(r"[A-Za-z0-9/_+=.@-]{1,512}")
"""https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html"""

RECOMMENDATION = "recommendation"
"""The category of what the service gives."""

_LONGEST_URL = 500
"""Characters. Lambda takes 4 KB of variables for a function.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""


@dataclass(frozen=True, kw_only=True)
class Content:
    """What digests contain beside events."""

    content_sources: list[str] = field(default_factory=lambda: [LISTS["content_sources"][0]])
    """The content sources of digests, in the order in which an email shows them. With
    `["events", "recommendations"]`, Gazette asks [a service of yours](content.md) for items too.

    `events` must be among them."""

    recommendations_url: str = ""
    """Where the service is asked, such as `https://recommend.shop.example/v1/items`.

    https; http is accepted on loopback only. Required with `recommendations`. 500 characters at
    most."""

    recommendations_secret: str = ""
    """The name of a secret in Secrets Manager whose text is the service's bearer token. Empty: the
    request has none.

    Its name, and not its ARN. If the token is wrong, the service refuses all requests and the
    circuit breaker opens."""

    recommendations_per_second: int = 10
    """[requests a second] The rate at which all workers together ask the service; retries count.

    1 to 1,000: each request writes one row. Too low: digests wait, or go without items."""

    recommendations_ramp_from: int = 1
    """[requests a second] The rate after a pause and after an outage; it doubles each `ramp_every`
    while there is work. 0: no ramp.

    0 to 1,000. Too high: a cold service is overloaded at once."""

    recommendations_concurrency: int = 10
    """[requests] How many requests are in progress at once, of all workers.

    2 to 1,000. Too low: the rate is not reached where the service takes longer than this divided by
    the rate."""

    recommendations_timeout: int = 3
    """[seconds] How long an answer may take as a whole.

    1 to 10. Too short: each slow answer is a failure, and five of them open the circuit breaker."""

    recommendations_items: int = 5
    """[items] How many items a digest gets at most.

    1 to 20. Each item costs two write units."""

    recommendations_lead: int = 0
    """[minutes] How long before a digest its items may be fetched: the requests are then spread
    evenly over that time. 0: they are fetched when the digest is due.

    0 to 1,440 in steps of 10, and `recommendations_fresh_for` at most."""

    recommendations_fresh_for: int = 1440
    """[minutes] How old items may be when the digest is due. Older ones are fetched again.

    10 to 10,080."""

    recommendations_policy: str = "without"
    """What a digest does whose items are not there when it is due: `without` (wait for
    `recommendations_patience`, then go without them) or `wait` (until `max_lateness`).

    Anything else is refused. With `wait`, an outage of the service delays digests for hours."""

    recommendations_patience: int = 600
    """[seconds] How long a digest waits for its items before it goes without them.

    60 to 3,600, and half of `max_lateness` at most."""

    recommendations_fallback_image: str = ""
    """The https address of a picture for items without one. Empty: they have none.

    Anything but an https URL of 500 characters at most is refused."""

    @property
    def asks_source(self) -> bool:
        """Whether the stage has the function `content`, and its queue."""
        return ASKED_SOURCE in self.content_sources


def wrong_with_content(stage: Content) -> Iterator[Wrong]:
    """What no stage may say of its content."""
    if stage.asks_source and not stage.recommendations_url:
        yield Wrong(
            "content_sources names recommendations, so recommendations_url must say where the "
            "service is asked.",
            of=("content_sources", "recommendations_url"),
        )
    if stage.recommendations_url and not _fits(_URL, stage.recommendations_url):
        yield Wrong(
            "recommendations_url must be an https URL (http on loopback only) of at most "
            f"{_LONGEST_URL} characters.",
            of=("recommendations_url",),
        )
    if stage.recommendations_secret and not _SECRET_NAME.fullmatch(stage.recommendations_secret):
        yield Wrong(
            "recommendations_secret must be the name of a secret, not its ARN: letters, digits and "
            "/_+=.@-, at most 512 of them.",
            of=("recommendations_secret",),
        )
    picture = stage.recommendations_fallback_image
    if picture and not _fits(_PICTURE, picture):
        yield Wrong(
            "recommendations_fallback_image must be an https URL of at most "
            f"{_LONGEST_URL} characters.",
            of=("recommendations_fallback_image",),
        )
    if stage.recommendations_lead % 10:
        yield Wrong(
            "recommendations_lead must be a multiple of 10: a slot has ten minutes.",
            of=("recommendations_lead",),
        )
    if stage.recommendations_lead > stage.recommendations_fresh_for:
        yield Wrong(
            "recommendations_lead must be at most recommendations_fresh_for: what is fetched ahead "
            "would be stale when the digest is due, and fetched twice.",
            of=("recommendations_lead", "recommendations_fresh_for"),
        )


def _fits(pattern: re.Pattern[str], url: str) -> bool:
    return len(url) <= _LONGEST_URL and bool(pattern.fullmatch(url))
