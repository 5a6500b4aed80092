"""The peak memory of a function's worker processes on the engine, read from /proc."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PROCESSES = Path("/proc")


class NoMemory(Exception):
    """An error for a process whose memory cannot be read. The message gives the reason."""


@dataclass
class Workers:
    """The workers of function `name`, run by the engine with process id `engine`.

    The engine runs each worker in a folder inside its own, with the function's name. `peaks`
    contains the peak memory of each worker in KB, including workers that have ended.
    """

    engine: int
    name: str
    processes: Path = _PROCESSES
    peaks: dict[int, int] = field(default_factory=dict)

    def look(self) -> None:
        """Record the peak memory of each worker. Raise NoMemory if the memory cannot be read."""
        if not (self.processes / "self" / "status").exists():
            raise NoMemory("/proc has no memory of processes here: run this on Linux.")
        self.peaks.update(self._found())

    def process_ids(self) -> list[int]:
        """Return the ids of the running workers' processes."""
        return [process_id for process_id, _ in self._found()]

    @property
    def peak_mb(self) -> float:
        """The highest peak memory of any worker in MB. Raise NoMemory if there was no worker."""
        if not self.peaks:
            raise NoMemory(f"The engine has no worker of {self.name}.")
        return max(self.peaks.values()) / 1024

    def _found(self) -> Iterator[tuple[int, int]]:
        """Yield the process id and peak resident set (VmHWM) of each running worker.

        https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
        """
        of_engine = (self.processes / str(self.engine) / "cwd").readlink()
        for folder in self.processes.glob("[0-9]*"):
            try:
                code = (folder / "cwd").readlink()
                lines = (folder / "status").read_text(errors="replace").splitlines()
            except OSError:
                continue  # the worker has ended
            status = dict(line.split(":", 1) for line in lines if ":" in line)
            of_worker = code.parent
            if of_worker.parent != of_engine or f"-{self.name}-" not in of_worker.name:
                continue
            if "VmHWM" in status:
                yield int(folder.name), int(status["VmHWM"].split()[0])
