"""The stage `local` as deployed to the embedded engine, and those who use it: services, readers."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from gazette.domain.scheduling.calendar import Recurrence, last_instant_of_slot, next_occurrence
from typer.testing import CliRunner

from demo.client import as_client_of
from demo.engine import ROOT, Engine
from demo.replay import SETTLE_SECONDS
from demo.service import Service
from demo.ses import Accepted, StandIn
from gazette_cdk.topology import STEPS
from gazette_cli.main import app

FEW = dict.fromkeys([name for step in STEPS for name in (step.name, *step.beside) if step.queue], 2)
"""Two invocations of each function at once: as many as this machine has processors."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deployed stage: its engine, its services' side, the mailboxes of its readers, and the
    outputs of its stacks.
    """

    engine: Engine
    service: Service
    ses: StandIn
    outputs: Mapping[str, str] = field(default_factory=dict)

    def settle(self) -> None:
        """Everything that was put is stored, and old enough to be in a digest."""
        self.service.wait_until_drained("ingest", "followers")
        time.sleep(SETTLE_SECONDS)

    def tick(self, due: datetime) -> None:
        """Let the clock strike, and the digests go out."""
        self.service.tick(due)
        self.service.wait_until_drained("shard", "generate", "immediate")

    def gazette(self, *arguments: str, exit_code: int = 0) -> str:
        """What the command says, as support runs it; in this process, which is faster."""
        with as_client_of(self.engine):
            result = CliRunner().invoke(app, [*arguments, "--stage", "local"])
        assert result.exit_code == exit_code, result.output
        return result.stdout

    def script(self, *arguments: str) -> str:
        """The same by the script that is installed."""
        result = subprocess.run(
            [str(Path(sys.executable).with_name("gazette")), *arguments, "--stage", "local"],
            cwd=ROOT,
            env={**os.environ, **self.engine.environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    def inbox(self, user: str) -> list[Accepted]:
        """The emails that the reader has got, in order."""
        return [mail for mail in self.ses.accepted if mail.to == f"{user}@example.com"]

    def request(self, link: str, body: bytes | None = None) -> tuple[int, str]:
        """What a browser or a mail program asks of a link in an email."""
        request = urllib.request.Request(
            link, data=body, headers={"Content-Type": "application/x-www-form-urlencoded"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()


def mark_below(folder: Path, items: list[pytest.Item], *markers: str) -> None:
    """Add markers to the tests below a folder, and allow sockets, because they use HTTP."""
    below = f"{folder}{os.sep}"
    for item in items:
        if str(item.path).startswith(below):
            for marker in (*markers, "enable_socket"):
                item.add_marker(marker)


_ZONE = "Europe/Berlin"
HOUR = 20 if 2 <= datetime.now(ZoneInfo(_ZONE)).hour < 14 else 8
"""The hour of digests: at least six hours away, so that it does not pass while a test runs."""


def _daily(hour: int) -> Recurrence:
    return Recurrence(hour, 0, _ZONE)


def a_profile(user: str, *, hour: int = HOUR) -> dict[str, Any]:
    """The detail of a profile: a daily digest at that hour in Berlin."""
    wanted = _daily(hour)
    return {
        "user_id": user,
        "email": f"{user}@example.com",
        "name": user.title(),
        "time_zone": wanted.time_zone,
        "changed_at": datetime.now(UTC).isoformat(),
        "digest": {"hour": wanted.hour, "minute": wanted.minute},
    }


def weekly_later(profile: dict[str, Any], due: datetime) -> dict[str, Any]:
    """The profile with weekly digests on another weekday than in the days after `due`."""
    day = f"{due + timedelta(days=5):%A}".lower()
    return profile | {"digest": profile["digest"] | {"weekly": {"day": day}}}


def a_comment(user: str, number: int) -> dict[str, Any]:
    """The detail of an event: one of many on the same post."""
    return {
        "id": f"comment{number}",
        "user_id": user,
        "category": "comment",
        "entity": {
            "type": "post",
            "id": "p1",
            "title": "On <digests>",
            "url": "https://example.com/p1",
        },
        "actor": {"id": f"u{number}", "name": f"Reader {number}"},
        "occurred_at": datetime.now(UTC).isoformat(),
        "excerpt": "Well said.",
    }


def next_due(*, hour: int = HOUR) -> datetime:
    """When the next digest of `a_profile` is due."""
    return next_occurrence(_daily(hour), after=last_instant_of_slot(datetime.now(UTC)))


def unseen_for(deployed: Deployed, user: str, *, days: int) -> None:
    """As if the reader had come that long ago: only the rows say otherwise."""
    feedback = deployed.service.settings("feedback")
    then = f"{datetime.now(UTC) - timedelta(days=days):%Y-%m-%d}"
    deployed.service.tables.update_item(
        TableName=feedback["GAZETTE_SUBSCRIBERS_TABLE"],
        Key={"user_id": {"S": user}},
        UpdateExpression="SET active_on = :then, registered_on = :then",
        ExpressionAttributeValues={":then": {"S": then}},
    )
    deployed.service.tables.update_item(
        TableName=feedback["GAZETTE_SCHEDULES_TABLE"],
        Key={"user_id": {"S": user}, "name": {"S": "daily"}},
        UpdateExpression="REMOVE active_until",
    )


def inactive_before(deployed: Deployed, user: str, due: datetime) -> None:
    """As if the reader had been inactive for so long that the digest due then is the last but one.

    With `sunset_days` of 45.
    """
    unseen_for(deployed, user, days=44 - (due.date() - datetime.now(UTC).date()).days)
