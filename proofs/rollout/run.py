"""Template versions that are pushed and rolled back while digests go out on the deployed stacks.

The real stacks run on the embedded engine. The proof makes the command's calls with its adapters.
Before each change SES rejects some emails, whose runs are repeated after it. One version is broken
in the bucket. Each part of an email names the version that made it.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from gazette.adapters.aws.clients import forget
from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.templates.s3 import S3Bundles
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.run import Run, Status
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.templates.versions import DEPLOYED, InForce, PushedVersion, Version, version_for
from gazette.settings.delivery import GenerateSettings
from gazette.settings.ranges import RANGES

from benchmarks.readers import Progress, fill
from benchmarks.reckoning import Stored, reckon
from demo.client import as_client_of
from demo.engine import deploy, running
from demo.service import Service, ServiceError
from demo.ses import Accepted, Answer, StandIn
from gazette_support.domain.templates.changes import Changed, pushed, rolled_back
from proofs.rollout.bundles import bundle, versions_said

_AHEAD = timedelta(hours=2)
"""The time until the slot. A tick carries its own time, so the proof does not wait."""

_REFUSED = 5
"""The number of emails that SES rejects before each change. They are retried a minute later."""

_REFUSED_WITHIN = 60
"""Seconds."""

_QUEUES = ("shard", "generate", "immediate", "resend", "feedback")


@dataclass
class Rollout:
    """The counts of a rollout.

    `versions` are the emails by version. `mixed` emails name different versions in their parts.
    `unlike` emails are of another version than their run. `repeated` runs were repeated after a
    change. `wrong` emails are of a broken version. `late` is the longest time in seconds after a
    change at which a run was claimed with the former version.
    """

    digests: int
    versions: Counter[int] = field(default_factory=Counter)
    mixed: int = 0
    unlike: int = 0
    repeated: int = 0
    wrong: int = 0
    late: float = 0.0
    emails: int = 0
    lost: int = 0
    twice: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


@dataclass
class _Refusals:
    """A rejection of the next `left` emails, once each. After a second one it would wait for five
    minutes."""

    left: int = 0
    readers: set[str] = field(default_factory=set)

    def __call__(self, mail: Accepted) -> Answer | None:
        if not self.left or mail.to in self.readers:
            return None
        self.left -= 1
        self.readers.add(mail.to)
        return Answer(429, "TooManyRequestsException")


@dataclass
class _Operator:
    """An operator who pushes versions like the command. `history` has the versions in force by
    time, the oldest first."""

    versions: DynamoTemplateVersions
    bundles: S3Bundles
    bucket: str
    folder: Path
    history: list[tuple[datetime, InForce]] = field(default_factory=list)

    def push(self, number: int, percent: int, *, broken: bool = False) -> None:
        """Store a version, and activate it for a percentage of the readers."""
        version, content = bundle(number, self.folder / str(number))
        self.bundles.put(version, content[:-1] if broken else content)
        self.versions.add(PushedVersion(version, len(content), now(), "proof"))
        self._change(lambda before: pushed(before, version, percent, at=now(), by="proof"))

    def roll_back(self, to: Version) -> None:
        """Activate a version for all readers."""
        self._change(lambda before: rolled_back(before, to, at=now(), by="proof"))

    def _change(self, change: Callable[[InForce], Changed]) -> None:
        before = self.versions.in_force()
        after, entry = change(before)
        if not self.versions.change(before, after, entry):
            raise ServiceError("Another process changed the versions in force.")
        self.history.append((now(), after))


def rollout(digests: int, *, over: int, folder: Path, within: float, progress: Progress) -> Rollout:
    """Send `digests` over so many seconds, at most 900, with four changes in that time.

    Their messages have random delays, as in every stage. Raise ServiceError if the stage does not
    settle `within` so many seconds.
    """
    done = Rollout(digests)
    with StandIn() as ses, running(ses_url=ses.url, folder=folder) as engine:
        outputs = deploy(engine, folder, base_url=ses.url, spread=over)
        service = Service.at(engine, outputs)
        ses.forward = partial(engine.request, outputs["PreferencesUrl"])
        progress("stage `local` deployed by the CDK command line")
        slot = slot_of(datetime.now(UTC) + _AHEAD)
        links = fill(service, digests, slot, progress)
        with as_client_of(engine):
            forget()
            settings = GenerateSettings.from_env(service.settings("generate"))
            operator = _Operator(
                DynamoTemplateVersions(settings.control_table, ranges=RANGES),
                S3Bundles(settings.templates_bucket),
                settings.templates_bucket,
                folder / "versions",
            )
            began = time.monotonic()
            service.tick(slot)
            _change_while_sending(operator, ses, over, progress)
            _wait(service, ses, digests, within, progress)
            done.seconds = time.monotonic() - began
            runs = _runs(settings.runs_table)
        forget()
        emails = list(ses.accepted)
    _count(done, runs, emails, operator.history)
    found = reckon(
        links, [Stored(run.key.user_id, run.status.value) for run in runs.values()], emails
    )
    done.emails, done.lost, done.twice = found.emails, found.lost, found.duplicates
    done.problems += found.problems
    return done


def _change_while_sending(
    operator: _Operator, ses: StandIn, seconds: float, progress: Progress
) -> None:
    """Push a version for all readers, one for half of them, and a broken one, and roll back."""
    changes: list[tuple[str, Callable[[], None]]] = [
        ("version 1 for everybody", lambda: operator.push(1, 100)),
        ("version 2 for half of the readers", lambda: operator.push(2, 50)),
        ("version 3, broken, for everybody", lambda: operator.push(3, 100, broken=True)),
        ("back to the deployed version", lambda: operator.roll_back(DEPLOYED)),
    ]
    refusals = _Refusals()
    ses.refuses = refusals
    began = time.monotonic()
    for number, (what, change) in enumerate(changes, start=1):
        at = began + seconds * number / (len(changes) + 1)
        time.sleep(max(0, at - time.monotonic()))
        refusals.left = _REFUSED
        until = time.monotonic() + _REFUSED_WITHIN
        while refusals.left:  # they are refused, and so claimed, before the change
            if time.monotonic() > until:
                raise ServiceError(f"Too few emails to refuse some before {what}.")
            time.sleep(0.1)
        change()
        progress(f"{len(ses.accepted)} emails: {what}")


def _wait(service: Service, ses: StandIn, digests: int, within: float, progress: Progress) -> None:
    ends_at, shown = time.monotonic() + within, 0.0
    while len(ses.accepted) < digests:
        if time.monotonic() > ends_at:
            raise ServiceError(f"{len(ses.accepted)} of {digests} emails after {within:.0f} s.")
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            progress(f"{len(ses.accepted)} emails")
        time.sleep(1)
    service.wait_until_drained(*_QUEUES, within=900)


def _runs(table: str) -> dict[RunKey, Run]:
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=table)
    users = {item["user_id"]["S"] for page in pages for item in page["Items"]}
    runs = DynamoRuns(table, retention=timedelta(days=200))
    found = (run for user in users for run in runs.of_user(user) if isinstance(run, Run))
    return {run.key: run for run in found}


def _count(
    done: Rollout,
    runs: dict[RunKey, Run],
    emails: list[Accepted],
    history: list[tuple[datetime, InForce]],
) -> None:
    by_user: dict[str, Any] = {run.key.user_id: run for run in runs.values()}
    for mail in emails:
        run = by_user[mail.to.partition("@")[0]]
        said = versions_said(
            " ".join(str(mail.message["Subject"]).split()), mail.part("html"), mail.part("plain")
        )
        together = set().union(*said)
        done.mixed += len(together) != 1
        done.unlike += together != {run.templates}
        done.wrong += 3 in together
        done.versions[run.templates] += 1
        done.repeated += run.attempt > 1
        done.late = max(done.late, _late(run, history))
        if run.status is not Status.SENT:
            done.problems.append(f"{run.key.user_id} has a run that is {run.status}")


def _late(run: Run, history: list[tuple[datetime, InForce]]) -> float:
    """Return the seconds between the replacement of a version and the run's claim with it."""
    if run.attempt != 1 or run.claimed_at is None:
        return 0.0
    past = [(datetime.min.replace(tzinfo=UTC), InForce()), *history]
    wanted = [
        (at, _usable(run.key.user_id, past[: place + 1])) for place, (at, _) in enumerate(past)
    ]
    ended = None
    for place, (_, number) in enumerate(wanted):
        if number == run.templates and place + 1 < len(wanted):
            ended = wanted[place + 1][0] if wanted[place + 1][1] != number else None
        elif number == run.templates:
            ended = None
    return max(0.0, (run.claimed_at - ended).total_seconds()) if ended else 0.0


def _usable(user_id: str, past: list[tuple[datetime, InForce]]) -> int:
    """Return the usable version of a reader. Version 3 is broken, so its predecessor is used."""
    number = version_for(user_id, past[-1][1]).number
    return past[-2][1].current.number if number == 3 else number
