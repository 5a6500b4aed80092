"""Encoding of content queue messages, which contain a reader's schedule and an occurrence."""

import json
from datetime import UTC, datetime

from gazette.adapters.aws.queues import Encoded
from gazette.domain.content.ports import Fetch, QueuedFetch
from gazette.domain.errors import InvalidEvent


def encode_fetch(queued: QueuedFetch) -> Encoded:
    """Encode a message for the content queue."""
    fetch = queued.fetch
    body = {
        "user_id": fetch.user_id,
        "schedule": fetch.schedule,
        "due_at": fetch.due_at.isoformat(),
        "tries": fetch.tries,
        **({"asked_at": fetch.asked_at.isoformat()} if fetch.asked_at else {}),
    }
    return Encoded(json.dumps(body), queued.delay)


def decode_fetch(body: str) -> Fetch:
    """Decode a message from the content queue. Raises InvalidEvent."""
    try:
        fields = json.loads(body)
        return Fetch(
            str(fields["user_id"]),
            str(fields["schedule"]),
            _instant(fields["due_at"]),
            int(fields.get("tries", 0)),
            _instant(fields["asked_at"]) if "asked_at" in fields else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as err:
        raise InvalidEvent(
            "A message on the content queue must be a JSON object with user_id, schedule and "
            f"due_at: {err!r}"
        ) from err


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
