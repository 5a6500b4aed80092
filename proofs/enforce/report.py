"""The report of the proof, with a line for each problem, and the counts."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from gazette_cli.reference.permissions import PERMISSIONS
from proofs.enforce.commands import Commands
from proofs.enforce.deciding import ambiguous, differing
from proofs.enforce.record import kept
from proofs.enforce.stages import Judged
from proofs.enforce.verdict import Line, Verdict

REASONS = Path(__file__).with_name("reasons.json")


def reasons() -> dict[Line, str]:
    """Return the reasons for unused grants, by patterns of holder, action and resource."""
    return {
        (each["holder"], each["action"], resource): each["why"]
        for each in json.loads(REASONS.read_text())
        for resource in each["resources"]
    }


def _fits(line: Line, reason: Line) -> bool:
    return fnmatchcase(line[0], reason[0]) and line[1:] == reason[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The report on one stage, or on the commands. `denied` and `wide` are sentences."""

    name: str
    granted: frozenset[Line]
    used: frozenset[Line]
    denied: frozenset[str]
    reasons: frozenset[Line]
    of_aws: frozenset[Line] = frozenset()
    wide: frozenset[str] = frozenset()

    @property
    def not_used(self) -> frozenset[Line]:
        """The grants that neither functions nor AWS use."""
        return self.granted - self.used - self.of_aws

    @property
    def unused(self) -> frozenset[Line]:
        """The unused grants without a reason."""
        return self.not_used - self._explained()

    @property
    def counts(self) -> Counter[str]:
        """The counts in the order of the last line."""
        return Counter(
            grants=len(self.granted),
            used=len(self.used),
            reasoned=len((self.of_aws - self.used) | self._explained()),
            denied=len(self.denied),
        )

    @property
    def problems(self) -> list[str]:
        """The problems, one line each."""
        unused = "is granted but not used"
        return [
            f"{self.name}: {each}"
            for each in (
                *sorted(self.denied),
                *sorted(self.wide),
                *(f"{' '.join(line)} {unused}" for line in sorted(self.unused)),
            )
        ]

    def _explained(self) -> frozenset[Line]:
        return frozenset(
            line for line in self.not_used if any(_fits(line, each) for each in self.reasons)
        )


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports on each stage and on the commands."""

    each: tuple[Report, ...]

    @property
    def problems(self) -> list[str]:
        """The problems of all reports, and reasons for grants that do not exist or are used."""
        stale = {
            reason
            for report in self.each
            for reason in report.reasons
            if not any(_fits(line, reason) for of in self.each for line in of.not_used)
        }
        return [
            *(problem for report in self.each for problem in report.problems),
            *(f"{' '.join(line)} needs no reason any more" for line in sorted(stale)),
        ]

    def __str__(self) -> str:
        total: Counter[str] = Counter()
        for report in self.each:
            total.update(report.counts)
        return "\n".join(
            [
                *(f"{report.name}: {_figures(report.counts)}" for report in self.each),
                f"enforced: {_figures(total)}",
            ]
        )


def _figures(counts: Mapping[str, int]) -> str:
    return " ".join(f"{name}={number}" for name, number in counts.items())


def report_on(stages: Sequence[Judged], folder: Path) -> Reports:
    """Compare the policies of the stages and commands with the calls in `folder`.

    A call counts in the stages whose settings of its function are equal. If there is none, the
    stage with the fewest differences decides whether the call would be denied, among those in which
    its resource is known. For a function that only some stages have, only those count.
    """
    verdicts = {stage.name: Verdict.of(stage.account) for stage in stages}
    commands = Commands(stages[0].account)
    for actor, asked, told in kept(folder):
        if actor in PERMISSIONS:
            commands.judge(actor, asked, told)
        if actor not in stages[0].account.functions:
            continue
        own = {
            stage.name: stage.account.settings_of(actor)
            for stage in stages
            if actor in stage.account.functions
        }
        far = {
            name: len(differing(told, settings))
            for name, settings in own.items()
            if not any(ambiguous(told, settings))
        }
        if not far:
            calls = ", ".join(sorted({each.action for each in asked}))
            verdicts[stages[0].name].denied.add(
                f"{actor} asks for {calls}, and no stage tells what that names: two settings have "
                "one value"
            )
        nearest = min(far, key=lambda name: far[name], default="")
        for name in far:
            if not far[name] or name == nearest:
                verdicts[name].judge(actor, asked, told, counts=not far[name])
    explained = frozenset(reasons())
    return Reports(
        (
            *(_of_stage(name, verdict) for name, verdict in verdicts.items()),
            Report(
                name="commands",
                granted=frozenset(commands.granted()),
                used=frozenset(commands.lines()),
                denied=frozenset(commands.denied),
                reasons=explained,
            ),
        )
    )


def _of_stage(name: str, verdict: Verdict) -> Report:
    return Report(
        name=name,
        granted=frozenset(verdict.granted()),
        used=frozenset(verdict.lines(verdict.used)),
        of_aws=frozenset(verdict.lines(verdict.of_aws)),
        denied=frozenset(verdict.denied),
        wide=frozenset(verdict.wide),
        reasons=frozenset(),
    )
