"""Groups of emails with the same properties."""

from typing import NamedTuple

DIGEST, IMMEDIATE = "digest", "immediate"


class Cohort(NamedTuple):
    """A group of emails with the same properties. Only the number of emails is stored."""

    # The stream, `digest` or `immediate`.
    stream: str

    # The due time, in seconds since the beginning.
    due: float

    # The end of the hour that the reader chose, in seconds since the beginning.
    wanted_until: float

    # The number of temporary rejections.
    refusals: int = 0
