"""Files to import."""

import json
from pathlib import Path
from typing import Any

SINCE = "2026-11-01T09:00:00Z"


def reader(number: int, **given: Any) -> dict[str, Any]:
    """The line of a profile."""
    user_id = f"reader{number}"
    return {
        "subscriber": {
            "user_id": user_id,
            "email": f"{user_id}@example.com",
            "name": f"Reader {number}",
            "time_zone": "UTC",
            "changed_at": SINCE,
            **given,
        }
    }


def follow(number: int, entity: str = "p1", **given: Any) -> dict[str, Any]:
    """The line of a follow."""
    named = {"type": "post", "id": entity}
    return {"follow": {"user_id": f"reader{number}", "entity": named, "changed_at": SINCE, **given}}


def suppression(number: int, **given: Any) -> dict[str, Any]:
    """The line of a suppression."""
    return {"suppression": {"address": f"gone{number}@example.com", **given}}


def write(path: Path, *lines: object) -> Path:
    """Write lines as NDJSON; text as it is."""
    texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
    path.write_text("".join(f"{each}\n" for each in texts))
    return path
