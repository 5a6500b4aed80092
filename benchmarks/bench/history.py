"""The history of the runs, with one line of JSON for each run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from typing import Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    FiniteFloat,
    ValidationError,
    model_validator,
)

from benchmarks.bench.goals import Measured, Noise, Result, Verdict


class PastFigure(BaseModel):
    """The figure of a goal in a run, with its noise. All four are None without a measurement."""

    model_config = ConfigDict(frozen=True)

    figure: FiniteFloat | None
    low: FiniteFloat | None
    high: FiniteFloat | None
    noise: Noise | None
    verdict: Verdict

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        values = (self.figure, self.low, self.high, self.noise)
        if None in values and any(each is not None for each in values):
            raise ValueError("figure, low, high and noise must all be present or all be null.")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("low must be at most high.")
        return self

    @property
    def measured(self) -> Measured | None:
        """The measurement."""
        if self.figure is None or self.low is None or self.high is None or self.noise is None:
            return None
        return Measured(self.figure, self.low, self.high, noise=self.noise)


class PastRun(BaseModel):
    """A run in the history."""

    model_config = ConfigDict(frozen=True)

    at: AwareDatetime
    machine: str
    commit: str = ""
    goals: Mapping[str, PastFigure]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measured figure of a goal in an earlier run."""

    at: AwareDatetime
    commit: str
    measured: Measured
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class History:
    """The earlier runs on one machine, and notes about lines that are left out."""

    runs: Sequence[PastRun] = ()
    notes: Sequence[str] = ()

    def of(self, goal: str) -> list[Measurement]:
        """Return the measurements of a goal, in the order of the runs."""
        return [
            Measurement(run.at, run.commit, measured, past.verdict)
            for run in self.runs
            if (past := run.goals.get(goal)) and (measured := past.measured)
        ]


def read(path: Path, machine: str) -> History:
    """Return the runs on this machine. Leave out a damaged line, with a note."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return History()
    except OSError as err:
        return History(notes=[f"The history cannot be read: {err}"])
    runs, notes = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            runs.append(PastRun.model_validate_json(line, strict=True))
        except ValidationError:
            notes.append(f"Line {number} of {path.name} is damaged and is left out.")
    ours = [run for run in runs if run.machine == machine]
    if others := len(runs) - len(ours):
        notes.append(f"Runs on other machines, which are left out: {others}.")
    return History(ours, notes)


def append(path: Path, results: Sequence[Result], about: Mapping[str, str]) -> None:
    """Append a run to the history."""
    goals = {
        result.goal.name: PastFigure(
            figure=result.measured.figure if result.measured else None,
            low=result.measured.low if result.measured else None,
            high=result.measured.high if result.measured else None,
            noise=result.measured.noise if result.measured else None,
            verdict=result.verdict,
        )
        for result in results
    }
    run = PastRun.model_validate({**about, "goals": goals})
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        # The last line is incomplete if the process that wrote it died.
        if file.seek(0, SEEK_END) and file.seek(-1, SEEK_END) and file.read() != b"\n":
            file.write(b"\n")
        file.write(run.model_dump_json().encode() + b"\n")
