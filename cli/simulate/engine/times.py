"""How long work takes, in seconds: assumptions, from what benchmarks measure."""

from dataclasses import dataclass, replace

from gazette.settings.concurrency import READERS_A_SHARD

A_SLOT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long things take where AWS answers in 10 ms and SES in 100.

    `start`: from a free worker to the first line of the handler. `requeue`: to requeue a run.
    `prepare`: to read and render; `more`: for each further message of the invocation. `send`: to
    claim, send and commit. `schedule`: of one due schedule in fan-out.
    """

    start: float = 0.01
    requeue: float = 0.02
    prepare: float = 0.07
    more: float = 0.015
    send: float = 0.14
    schedule: float = A_SLOT / READERS_A_SHARD

    def times(self, factor: float) -> "Times":
        """As long as this, `factor` times, to read and to send."""
        return replace(self, prepare=self.prepare * factor, send=self.send * factor)
