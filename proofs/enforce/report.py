"""The end of the proof: what is wrong, line by line, and its counts."""

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from cli.reference.permissions import PERMISSIONS
from proofs.enforce.account import Account
from proofs.enforce.commands import Commands
from proofs.enforce.record import kept
from proofs.enforce.verdict import Line, Verdict

REASONS = Path(__file__).with_name("reasons.json")


def reasons() -> dict[Line, str]:
    """Why something may be granted that no test uses: by a pattern of who, what, and where."""
    return {
        (each["holder"], each["action"], resource): each["why"]
        for each in json.loads(REASONS.read_text())
        for resource in each["resources"]
    }


def _fits(line: Line, reason: Line) -> bool:
    return fnmatchcase(line[0], reason[0]) and line[1:] == reason[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`stale`: reasons of what is not granted, or is used."""

    granted: frozenset[Line]
    used: frozenset[Line]
    of_aws: frozenset[Line]
    denied: frozenset[str]
    reasoned: frozenset[Line]

    @property
    def unused(self) -> frozenset[Line]:
        """What is granted for nothing."""
        return self._not_used() - self._explained()

    @property
    def stale(self) -> frozenset[Line]:
        """Reasons for what is not granted, or is used."""
        return frozenset(
            reason
            for reason in self.reasoned
            if not any(_fits(line, reason) for line in self._not_used())
        )

    def _not_used(self) -> frozenset[Line]:
        return self.granted - self.used - self.of_aws

    def _explained(self) -> frozenset[Line]:
        return frozenset(
            line
            for line in self._not_used()
            if any(_fits(line, reason) for reason in self.reasoned)
        )

    @property
    def problems(self) -> list[str]:
        """One line each."""
        return [
            *sorted(self.denied),
            *(f"{' '.join(line)} is granted, and nothing uses it" for line in sorted(self.unused)),
            *(f"{' '.join(line)} needs no reason any more" for line in sorted(self.stale)),
        ]

    def __str__(self) -> str:
        reasoned = len((self.of_aws - self.used) | self._explained())
        return (
            f"enforced: grants={len(self.granted)} used={len(self.used)} reasoned={reasoned} "
            f"denied={len(self.denied)}"
        )


def report_on(
    account: Account, folder: Path, *, on_the_engine: frozenset[Line] = frozenset()
) -> Report:
    """What the policies of the account and those of the commands say to what is kept in `folder`.

    `on_the_engine`: what was used there. It is the stage `local`, so that only grants with the same
    names count here.
    """
    verdict, commands = Verdict.of(account), Commands(account)
    for actor, asked, told in kept(folder):
        if actor in account.functions:
            verdict.judge(actor, asked, told)
        elif actor in PERMISSIONS:
            commands.judge(actor, asked, told)
    granted = verdict.granted()
    return Report(
        granted=frozenset(granted | commands.granted()),
        used=frozenset(verdict.lines(verdict.used) | commands.lines() | (on_the_engine & granted)),
        of_aws=frozenset(verdict.lines(verdict.of_aws)),
        denied=frozenset(verdict.denied | commands.denied),
        reasoned=frozenset(reasons()),
    )
