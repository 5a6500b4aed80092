"""Readers who are due in one slot of the deployed stacks, with one published event each."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from demo.replay import SETTLE_SECONDS
from demo.service import Service

_WITHIN = 1800
"""The time limit for ingest, in seconds."""

Progress = Callable[[str], None]


def fill(service: Service, readers: int, slot: datetime, progress: Progress) -> dict[str, str]:
    """Register readers who are due in the slot, each with one event.

    Return the event links by user id.
    """
    at = datetime.now(UTC)
    numbers = range(readers)
    service.put("subscriber.changed", (_profile(number, slot, at) for number in numbers))
    service.wait_until_drained("ingest", within=_WITHIN)
    progress(f"{readers} readers registered")
    events = [_event(number, at) for number in numbers]
    service.put("event.created", events)
    service.wait_until_drained("ingest", within=_WITHIN)
    time.sleep(SETTLE_SECONDS)
    progress(f"an event for each, due in the slot of {slot:%H:%M} UTC")
    return {event["user_id"]: event["entity"]["url"] for event in events}


def _profile(number: int, slot: datetime, at: datetime) -> dict[str, Any]:
    return {
        "user_id": f"reader{number}",
        "email": f"reader{number}@example.com",
        "name": f"Reader {number}",
        "time_zone": "UTC",
        "changed_at": at.isoformat(),
        "digest": {"hour": slot.hour, "minute": slot.minute + number % 10},
    }


def _event(number: int, at: datetime) -> dict[str, Any]:
    return {
        "id": f"comment{number}",
        "user_id": f"reader{number}",
        "category": "comment",
        "entity": {
            "type": "post",
            "id": f"post{number}",
            "title": f"Post {number}",
            "url": f"https://example.com/posts/{number}/",
        },
        "actor": {"id": "bo", "name": "Bo"},
        "occurred_at": at.isoformat(),
    }
