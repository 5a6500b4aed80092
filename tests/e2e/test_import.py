"""An import into the deployed stage: killed three times, continued, and never in the way.

GAZETTE_IMPORT_READERS is the number of readers, such as 20000. The default is small.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from gazette.domain.subscribers.suppression import Cause

from gazette_cli.imports.items import Kind
from gazette_cli.imports.state import State, read_state, state_path
from tests.stage import Deployed, a_comment
from tests.unit.imports.files import follow, reader, suppression, write

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
READERS = int(os.environ.get("GAZETTE_IMPORT_READERS", "1200"))
FOLLOWS_EACH = 2
SUPPRESSED = 10
RATE = max(200, READERS // 6)
"""Items per second: slow enough to be killed three times, and faster than the engine's ingest."""
PATIENCE = max(300, READERS // 20)
"""Seconds in which the engine imports 30 % of the items."""

LIVE = "livia"
A_MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file: readers with follows, and suppressions, which concern some of the readers."""
    lines: list[Any] = []
    for number in range(READERS):
        lines.append(reader(number, active_on="2026-10-30"))
        lines += [follow(number, f"p{(number + each) % 97}") for each in range(FOLLOWS_EACH)]
    for number in range(SUPPRESSED):
        lines.append(suppression(number))
        lines.append({"suppression": {"address": f"reader{number}@example.com"}})
    return write(tmp_path_factory.mktemp("import") / "readers.ndjson", *lines)


def start(deployed: Deployed, file: Path) -> "subprocess.Popen[str]":
    """The command in a process of its own, which can be killed."""
    script = str(Path(sys.executable).with_name("gazette"))
    options = ["--yes", "--stage", "local", "--rate", str(RATE), "--most-waiting", "2"]
    # Two lists may wait, because the engine processes few profiles a second.
    return subprocess.Popen(
        [script, "import", str(file), *options],
        cwd=ROOT,
        env={**os.environ, **deployed.engine.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def progress(file: Path) -> int:
    """How many items are acknowledged."""
    state = read_state(state_path(file))
    return sum(state.acknowledged.values()) if state else 0


def kill_behind(process: "subprocess.Popen[str]", file: Path, items: int) -> None:
    """Kill the command as soon as so many items are acknowledged."""
    until = time.monotonic() + PATIENCE
    while progress(file) < items:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def rows(deployed: Deployed, table: str, *, of: str) -> list[dict[str, Any]]:
    """The rows of the imported readers."""
    name = deployed.service.settings("ingest")[f"GAZETTE_{table.upper()}_TABLE"]
    pages = deployed.service.tables.get_paginator("scan").paginate(TableName=name)
    items = [item for page in pages for item in page["Items"]]
    return [item for item in items if item.get(of, {}).get("S", "").startswith("reader")]


def say_live(deployed: Deployed, number: int) -> float:
    """Put a live event for immediate email; return the time until the email has arrived.

    Each is about another post, because emails about one post become rarer.
    """
    began = time.monotonic()
    before = len(deployed.inbox(LIVE))
    comment = a_comment(LIVE, number)
    comment["entity"] |= {"id": f"p{number}"}
    deployed.service.put("event.created", [comment])
    while len(deployed.inbox(LIVE)) == before:
        assert time.monotonic() - began < 120, "the live event did not arrive"
        time.sleep(0.1)
    return time.monotonic() - began


def test_import_is_killed_three_times_and_each_reader_is_imported_once(
    deployed: Deployed, readers: Path
) -> None:
    profile = {
        **reader(0)["subscriber"],
        "user_id": LIVE,
        "email": f"{LIVE}@example.com",
        "changed_at": datetime.now(UTC).isoformat(),
        "frequencies": {"comment": "immediate"},
    }
    deployed.service.put("subscriber.changed", [profile])
    deployed.settle()
    total = READERS * (1 + FOLLOWS_EACH) + 2 * SUPPRESSED

    waits = []
    for number, share in enumerate((0.1, 0.4, 0.7)):
        process = start(deployed, readers)
        kill_behind(process, readers, round(share * total))
        before = progress(readers)
        assert before < total
        waits.append(say_live(deployed, number))
    process = start(deployed, readers)
    waits.append(say_live(deployed, 4))
    output, _ = process.communicate(timeout=1800)
    assert process.returncode == 0, output
    assert "Continuing the import" in output
    assert max(waits) < A_MINUTE.total_seconds(), waits

    state = read_state(state_path(readers))
    assert isinstance(state, State)
    assert state.is_finished
    assert (
        state.acknowledged
        == state.totals
        == {
            Kind.SUPPRESSION: 2 * SUPPRESSED,
            Kind.SUBSCRIBER: READERS,
            Kind.FOLLOW: READERS * FOLLOWS_EACH,
        }
    )
    deployed.settle()
    subscribers = rows(deployed, "subscribers", of="user_id")
    assert len(subscribers) == READERS
    assert {item["registered_on"]["S"] for item in subscribers} == {"2026-10-30"}
    statuses = Counter(item["status"]["S"] for item in subscribers)
    assert statuses == {"active": READERS - SUPPRESSED, "suppressed": SUPPRESSED}
    follows = rows(deployed, "follows", of="user_id")
    assert len(follows) == READERS * FOLLOWS_EACH
    suppressed = deployed.gazette("suppression", "list", "--reason", Cause.MANUAL, "--json")
    assert len(json.loads(suppressed)["addresses"]) >= 2 * SUPPRESSED
    told = deployed.gazette("import", "verify", str(readers), "--sample", "200", "--json")
    assert json.loads(told) == {"missing": [], "verified": 200}
