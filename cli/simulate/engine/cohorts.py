"""What is sent to many readers alike."""

from typing import NamedTuple

DIGEST, IMMEDIATE = "digest", "immediate"


class Cohort(NamedTuple):
    """Emails that nothing tells apart, however many: only their number is kept.

    `stream`: `digest` or `immediate`. `due`: when they were due, in seconds since the beginning;
    `wanted_until`: until when they are in time. `refusals`: how often the provider refused them.
    """

    stream: str
    due: float
    wanted_until: float
    refusals: int = 0
