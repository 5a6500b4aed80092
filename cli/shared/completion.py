"""Shell completion of values. It never calls AWS, so it is fast and works offline."""

import json
from datetime import UTC, datetime
from pathlib import Path

from gazette.domain.scheduling.calendar import SLOT, slot_id, slot_of

_CDK = Path(__file__).parents[2] / "cdk.json"
_SLOTS = range(1, -18, -1)
"""The next slot, the current one, and those of the last three hours."""


def known_stages(incomplete: str) -> list[str]:
    """Return the stages of cdk.json, or none if the file is unreadable."""
    try:
        stages = json.loads(_CDK.read_text())["context"]["stages"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return _of([*stages], incomplete)


def recent_slots(incomplete: str) -> list[str]:
    """Return slots that may have a batch, the next one first."""
    now = slot_of(datetime.now(UTC))
    return _of([slot_id(now + number * SLOT) for number in _SLOTS], incomplete)


def _of(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
