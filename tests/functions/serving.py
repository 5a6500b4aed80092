"""Requests of services that together use every grant of the API's functions."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from gazette.domain.feedback.reports import Prover
from gazette.domain.identity import address_hash
from gazette.domain.model import RunKey

from tests.builders import SUPPRESSION_KEY
from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import ago, event, follow, happening, http, profile
from tests.services import content, request

Meanwhile = Callable[[str, str, Callable[[], None]], None]


def services_of_every_kind(cloud: Cloud, meanwhile: Meanwhile) -> None:
    """Every route is called. A reader's choices move and withdraw waiting events, also where
    another process changed the schedule, started a run or erased the reader meanwhile.
    """
    for user_id in ("hal", "ivy", "jan", "lou"):
        cloud.say("subscriber.changed", profile(user_id))
    cloud.say("event.created", event(1, user_id="hal"))
    cloud.work("generate", *fan_out(cloud, "hal"))
    cloud.say("follow.created", follow("ivy"))
    cloud.say("event.created", event(1, user_id="ivy"))
    cloud.say("activity.created", happening(3))
    a_request_for_each_route(cloud)
    a_delivery_event(cloud)
    subscribers_who_return(cloud, meanwhile)
    choose(cloud, "ivy", digest={"hour": 5})
    choose(cloud, "ivy", frequencies={"comment": "weekly"})
    choose(cloud, "ivy", frequencies={"comment": "immediate"})
    choose(cloud, "ivy", frequencies={"comment": "never"})
    cloud.say("event.created", event(1, user_id="lou"))
    choose(cloud, "lou", frequencies={"comment": "never"})
    weekly = profile("jan", changed_at=ago(days=9), frequencies={"comment": "weekly"})
    cloud.say("event.created", event(2, user_id="jan"))
    meanwhile("schedules", "GetItem", lambda: cloud.say("subscriber.changed", weekly))
    choose(cloud, "jan", frequency="immediate")
    changed = profile("jan", changed_at=ago(days=8), digest={"hour": 20, "weekly": {}})

    def change_after_the_next_look() -> None:
        meanwhile("schedules", "Query", lambda: cloud.say("subscriber.changed", changed))

    meanwhile("schedules", "Query", change_after_the_next_look)
    choose(cloud, "jan", digest={"hour": 6})
    erased = {"user_id": "jan", "deleted_at": ago()}
    meanwhile("subscribers", "UpdateItem", lambda: cloud.say("subscriber.deleted", erased))
    choose(cloud, "jan", digest={"hour": 7})


def a_request_for_each_route(cloud: Cloud) -> None:
    """Call each route that reads, for an event that waits and for one that was emailed."""
    for user_id, event_id in (("ivy", "e1"), ("hal", "e1"), ("ivy", "never")):
        for path, query in (
            ("/v1/subscriber", {"user_id": user_id}),
            ("/v1/subscriber/emails", {"user_id": user_id}),
            ("/v1/event", {"user_id": user_id, "id": event_id}),
        ):
            read(cloud, request("GET", path, **query))
        export(cloud, user_id)
    entity = {"entity_type": "post", "entity_id": "p1", "id": "a3"}
    read(cloud, request("GET", "/v1/activity", **entity))
    read(cloud, request("GET", "/v1/entity", type="post", id="p1"))
    read(cloud, request("POST", "/v1/subscriber/link", user_id="ivy"))


def export(cloud: Cloud, user_id: str) -> None:
    """Read all pages of an export."""
    cursor = ""
    while cursor is not None:
        path = "/v1/subscriber/export"
        answer = cloud.invoke("api", request("GET", path, user_id=user_id, cursor=cursor))
        cursor = content(answer)["next"]


def a_delivery_event(cloud: Cloud) -> None:
    """Report that the email of Hal arrived."""
    body = {**reported("hal"), "type": "delivered"}
    answer = cloud.invoke("api_writes", request("POST", "/v1/delivery-event", body))
    assert answer["statusCode"] == 202, answer["body"]
    assert work_off_feedback(cloud) == 1


def subscribers_who_return(cloud: Cloud, meanwhile: Meanwhile) -> None:
    """Hal returns after he unsubscribed, and again while he unsubscribes meanwhile."""
    leave(cloud, "hal")
    give_back(cloud, "hal")
    leave(cloud, "hal")
    meanwhile("subscribers", "UpdateItem", lambda: leave(cloud, "hal"))
    give_back(cloud, "hal")


def leave(cloud: Cloud, user_id: str) -> None:
    """Unsubscribe on the preference page."""
    link = cloud.invoke("api", request("POST", "/v1/subscriber/link", user_id=user_id))
    path = urlsplit(content(link)["url"]).path
    form = http("POST", path, "act=unsubscribe", "application/x-www-form-urlencoded")
    answer = cloud.invoke("preferences", form)
    assert answer["statusCode"] == 200, answer["body"]


def give_back(cloud: Cloud, user_id: str) -> None:
    """State a consent at the present time."""
    body = {"email": f"{user_id}@example.com", "consented_at": datetime.now(UTC).isoformat()}
    answer = cloud.invoke(
        "api_writes", request("POST", "/v1/subscriber/return", body, user_id=user_id)
    )
    assert answer["statusCode"] in {200, 409}, answer["body"]


def read(cloud: Cloud, asked: dict[str, Any]) -> None:
    answer = cloud.invoke("api", asked)
    assert answer["statusCode"] == 200, answer["body"]


_CHOICES = iter(range(1_000))


def reported(user_id: str = "ann", *, attempt: int = 1) -> dict[str, Any]:
    """Return a proven delivery event about the first digest of a reader, without its type."""
    address = f"{user_id}@example.com"
    prover = Prover(key=SUPPRESSION_KEY, installation="here")
    sent_at = datetime.now(UTC) - timedelta(hours=2)
    named = prover.reference(RunKey(user_id, "daily", 1), attempt, sent_at, address_hash(address))
    return {"reference": str(named), "recipient": address, "at": ago()}


def work_off_feedback(cloud: Cloud) -> int:
    """Process the messages on the feedback queue. Return their number."""
    bodies = [each["Body"] for each in cloud.take("feedback")]
    cloud.work("feedback", *bodies)
    return len(bodies)


def choose(cloud: Cloud, user_id: str, **body: object) -> None:
    """Submit a choice that is later than all earlier ones."""
    at = datetime.now(UTC) - timedelta(seconds=1_000 - next(_CHOICES))
    asked = request(
        "PATCH", "/v1/subscriber/choices", {"chosen_at": at.isoformat(), **body}, user_id=user_id
    )
    answer = cloud.invoke("api_writes", asked)
    assert answer["statusCode"] in {200, 202, 404}, answer["body"]
