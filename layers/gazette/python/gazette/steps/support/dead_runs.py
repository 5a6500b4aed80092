"""The dead letters of a reader's runs, as far as the queues were read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gazette.domain.dead_letters import DeadLetter
from gazette.domain.explanation import DeadRun, Explanation
from gazette.domain.model import RunKey


@dataclass(frozen=True, slots=True)
class LettersRead:
    """The dead letters of runs that were read."""

    # The oldest message of each run.
    by_run: Mapping[RunKey, DeadLetter]

    # Each queue with messages that were not read: its name, and the number of messages and of those
    # that were read. The number of messages is None if the queue cannot be read.
    partly: Sequence[tuple[str, int | None, int]] = ()

    def dead_run(self, key: RunKey) -> DeadRun | None:
        """Return the message of a run, if it was read."""
        letter = self.by_run.get(key)
        return DeadRun(letter.dead.name, letter.since) if letter else None

    def unread(self) -> str:
        """Return the sentence about messages that were not read, or ""."""
        if not self.partly:
            return ""
        queues = "; ".join(
            f"{name} cannot be read"
            if waiting is None
            else f"of the {waiting:,} messages in {name}, {read} were read"
            for name, waiting, read in self.partly
        )
        return f"The message of a run may also be in a queue that was read only in part: {queues}."


def oldest_by_run(letters: Iterable[DeadLetter]) -> dict[RunKey, DeadLetter]:
    """Return the oldest dead letter of each run."""
    newest_first = sorted(letters, key=lambda letter: letter.since, reverse=True)
    return {letter.key: letter for letter in newest_first if letter.key}


def with_dead_letters(found: Explanation, read: LettersRead) -> Explanation:
    """Return the explanation with the dead letter of each run."""
    runs = tuple(replace(entry, dead=read.dead_run(entry.run.key)) for entry in found.runs)
    return replace(found, runs=runs)
