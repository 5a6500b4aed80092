"""The engine's workers of a function, and how much memory they have used: read from /proc."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PROCESSES = Path("/proc")


class NoMemory(Exception):
    """The memory of a process cannot be read. The text says why."""


@dataclass
class Workers:
    """The workers of the function `name` of the engine whose process is `engine`.

    The engine runs each in a folder that is named for the function. `peaks`: the most memory, in
    KB, of each process ever seen; those that have ended are kept.
    """

    engine: int
    name: str
    processes: Path = _PROCESSES
    peaks: dict[int, int] = field(default_factory=dict)

    def look(self) -> None:
        """See what each has used so far. Raises NoMemory where that cannot be told."""
        if not (self.processes / "self" / "status").exists():
            raise NoMemory("/proc has no memory of processes here: run this on Linux.")
        self.peaks.update(self._found())

    def process_ids(self) -> list[int]:
        """Of those that run now."""
        return [process_id for process_id, _ in self._found()]

    @property
    def peak_mb(self) -> float:
        """The most that one of them has used. Raises NoMemory where none was seen."""
        if not self.peaks:
            raise NoMemory(f"The engine has no worker of {self.name}.")
        return max(self.peaks.values()) / 1024

    def _found(self) -> Iterator[tuple[int, int]]:
        """The process id and peak resident set (VmHWM) of each that runs.

        https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
        """
        for folder in self.processes.glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_text(errors="replace")
                lines = (folder / "status").read_text(errors="replace").splitlines()
            except OSError:
                continue  # it has ended
            status = dict(line.split(":", 1) for line in lines if ":" in line)
            if f"-{self.name}-" not in command or int(status["PPid"]) != self.engine:
                continue
            if "VmHWM" in status:
                yield int(folder.name), int(status["VmHWM"].split()[0])
