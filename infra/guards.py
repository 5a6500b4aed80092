"""What keeps a stage from being deployed to the wrong place, or without what it needs."""

import re
from collections.abc import Iterator

from infra.stage import Stage

_LONGEST_ARCHIVE = 30
"""Days. An event is known by its id for 35 at least: a replay of this archive repeats nothing."""


def wrong_settings(stage: Stage) -> Iterator[str]:
    """Which settings no stage may have, each as the rest of a sentence that names the stage."""
    if stage.account and not re.fullmatch(r"[0-9]{12}", stage.account):
        yield "account must be twelve digits, such as 123456789012."
    if stage.region and not re.fullmatch(r"[a-z]{2,4}(-[a-z]+)+-[0-9]", stage.region):
        yield "region must be the name of a region, such as eu-central-1."
    for key, value in stage.tags.items():
        if key.startswith(("aws:", "gazette:")) or not 1 <= len(key) <= 128:
            yield f"tags has the key {key!r}; another one begins with neither aws: nor gazette:."
        if not isinstance(value, str) or len(value) > 256:
            yield f"tags gives {key!r} no text of at most 256 characters."
    if not 0 <= stage.archive_days <= _LONGEST_ARCHIVE:
        yield f"archive_days must be 0 to {_LONGEST_ARCHIVE}; 0 is no archive."
