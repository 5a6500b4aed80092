"""The assumed durations of work, derived from benchmarks."""

from dataclasses import dataclass, replace

from gazette.settings.concurrency import READERS_A_SHARD

A_SLOT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Durations in seconds, if AWS answers in 10 ms and SES in 100 ms."""

    # The start of an invocation.
    start: float = 0.01

    # The requeue of a run.
    requeue: float = 0.02

    # The reads and the rendering of the first message of an invocation.
    prepare: float = 0.07

    # The additional time for each further message.
    more: float = 0.015

    # The claim, the call of SES and the commit.
    send: float = 0.14

    # A due schedule in fan-out.
    schedule: float = A_SLOT / READERS_A_SHARD

    def times(self, factor: float) -> "Times":
        """Multiply the durations of reading and sending by a factor."""
        return replace(self, prepare=self.prepare * factor, send=self.send * factor)
