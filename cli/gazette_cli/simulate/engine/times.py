"""The assumed durations of work in a simulation, derived from benchmarks."""

from dataclasses import dataclass, replace

from gazette_cdk.concurrency import MORE_MEMORY, READERS_A_SHARD

A_SLOT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Durations in seconds, assuming that AWS responds in 10 ms and SES in 100 ms."""

    # The start of an invocation.
    start: float = 0.01

    # The requeue of a run.
    requeue: float = 0.02

    # Reading and rendering for the first message of an invocation.
    prepare: float = 0.07

    # The additional time for each further message, which is processor time.
    more: float = 0.015

    # The claim, the call to SES and the commit.
    send: float = 0.14

    # A due schedule in fan-out.
    schedule: float = A_SLOT / READERS_A_SHARD

    def with_memory(self, memory: int) -> "Times":
        """Return the assumed durations of functions with `memory` MB. Processor time is longer with
        less memory.
        """
        more = self.more * MORE_MEMORY / memory
        return replace(self, prepare=self.prepare - self.more + more, more=more)

    def times(self, factor: float) -> "Times":
        """Return the assumed durations. The durations of reading and sending are multiplied by a
        factor.
        """
        return replace(self, prepare=self.prepare * factor, send=self.send * factor)
