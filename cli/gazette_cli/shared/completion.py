"""Shell completion of values. It does not call AWS, so it is fast and works offline."""

from datetime import UTC, datetime

from gazette.domain.scheduling.calendar import SLOT, slot_id, slot_of

from gazette_cdk.folders import stages

_SLOTS = range(1, -18, -1)
"""The offsets of the suggested slots: the next slot, the current slot, and the last three hours."""


def known_stages(incomplete: str) -> list[str]:
    """Return the stages of the project, or no stages if the file is unreadable."""
    try:
        known = [*stages()]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return _of(known, incomplete)


def recent_slots(incomplete: str) -> list[str]:
    """Return slots that may have a batch. The next slot is first."""
    now = slot_of(datetime.now(UTC))
    return _of([slot_id(now + number * SLOT) for number in _SLOTS], incomplete)


def _of(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
