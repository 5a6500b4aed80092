"""A stage from its first deployment to its last, and what its readers get meanwhile."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from demo.client import as_client_of
from demo.engine import Engine, deploy, destroy
from demo.service import Service
from demo.ses import Accepted, StandIn
from gazette_cdk.topology import STEPS
from gazette_cli.doctor import command
from gazette_cli.main import app
from tests.stage import Deployed, a_comment, a_profile, next_due

_READERS = 15
"""In each of the slots that come due one after the other, one for each hour but the next."""

_AFTERWARDS = 4
"""Slots that are left when the upgrade is done, however long it takes."""

BEFORE, AFTER = "Morning Post", "Evening Post"
"""The brands of the templates, by which an email tells the version that made it."""

Deploy = Callable[[], object]


def _templates(folder: Path, name: str) -> str:
    """A folder of templates whose emails come from a brand of this name."""
    made = folder / name.lower().replace(" ", "-")
    made.mkdir()
    brand = {"name": name, "postal_address": "1 Example Street"}
    (made / "brand.json").write_text(json.dumps(brand))
    return str(made)


def _brand(mail: Accepted) -> str:
    """The brand that an email names, the same one in its HTML and its text."""
    html, text = (
        [brand for brand in (BEFORE, AFTER) if brand in mail.part(part)]
        for part in ("html", "plain")
    )
    assert html == text
    (brand,) = html
    return brand


@dataclass(frozen=True)
class _Group:
    """Readers whose digests are due in the same slot."""

    hour: int
    due: datetime
    """Read from the clock once: while the test runs, the hour may pass, and be due tomorrow."""

    @property
    def readers(self) -> Sequence[str]:
        return [f"r{self.hour}x{number}" for number in range(_READERS)]


def _groups() -> list[_Group]:
    """A group for each hour, in the order in which they are due; none for the hour that is next."""
    groups = [_Group(hour, next_due(hour=hour)) for hour in range(24)]
    return sorted(groups, key=lambda group: group.due)[1:]


def _fill(deployed: Deployed, groups: Sequence[_Group]) -> None:
    for group in groups:
        deployed.service.put(
            "subscriber.changed", [a_profile(reader, hour=group.hour) for reader in group.readers]
        )
        deployed.service.put("event.created", [a_comment(reader, 1) for reader in group.readers])
    deployed.settle()


def _tick(deployed: Deployed, group: _Group) -> list[str]:
    """Let the digests of these readers go out; return the brands of what arrived."""
    before = len(deployed.ses.accepted)
    deployed.tick(group.due)
    return [_brand(mail) for mail in deployed.ses.accepted[before:]]


def _levels(deployed: Deployed) -> dict[str, str]:
    """What `gazette doctor` finds that is not ok. The engine keeps no protection of tables."""
    environment = {"AWS_ENDPOINT_URL_SESV2": deployed.ses.url}
    with as_client_of(deployed.engine):
        done = CliRunner().invoke(app, ["doctor", "--stage", "local", "--json"], env=environment)
    found = json.loads(done.stdout)["findings"]
    assert len(found) > len(STEPS)
    return {
        each["check"]: each["level"]
        for each in found
        if each["level"] != "ok" and not each["check"].startswith("table ")
    }


def _send_test(deployed: Deployed) -> None:
    """It arrives in the mailbox of whoever asked."""
    with as_client_of(deployed.engine):
        done = CliRunner().invoke(
            app,
            ["send-test", "ops@example.com", "--stage", "local"],
            env={"AWS_ENDPOINT_URL_SESV2": deployed.ses.url},
        )
    assert done.exit_code == 0, done.output
    assert [mail.to for mail in deployed.ses.accepted] == ["ops@example.com"]
    deployed.ses.accepted.clear()


def _upgrade(deployed: Deployed, waiting: list[_Group], deploy_it: Deploy) -> None:
    """Deploy while the digests of one slot after the other go out, but for some of afterwards."""
    with ThreadPoolExecutor(1) as operator:
        upgrade = operator.submit(deploy_it)
        while len(waiting) > _AFTERWARDS and not upgrade.done():
            assert set(_tick(deployed, waiting.pop(0))) <= {BEFORE, AFTER}
        upgrade.result()


def _lose_and_restore(deployed: Deployed) -> None:
    """All profiles and schedules are deleted, and come back from copies.

    The engine copies a table as it is, because it knows no earlier instant.
    """
    tables, settings = deployed.service.tables, deployed.service.settings("ingest")
    for name in ("subscribers", "schedules", "control"):
        table = settings[f"GAZETTE_{name.upper()}_TABLE"]
        tables.restore_table_to_point_in_time(
            SourceTableName=table,
            TargetTableName=f"{table}-restored",
            UseLatestRestorableTime=True,
        )
        rows = tables.scan(TableName=table)["Items"]
        described = tables.describe_table(TableName=table)["Table"]
        keys = [each["AttributeName"] for each in described["KeySchema"]]
        for row in rows:
            tables.delete_item(TableName=table, Key={key: row[key] for key in keys})
        assert not tables.scan(TableName=table)["Items"]
        deployed.gazette("restore", name, "--yes")
        assert tables.scan(TableName=table)["Count"] == len(rows)
        tables.delete_table(TableName=f"{table}-restored")


def _is_well(deployed: Deployed) -> None:
    for step in STEPS:
        for queue in step.queues:
            assert deployed.service.messages_in(f"{queue}-dead") == 0, queue


def test_stage_lifecycle_from_first_deployment_to_destruction(
    engine: Engine, ses: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bootstrap, deploy, doctor, send-test, upgrade under load, rollback, restore, destroy."""
    monkeypatch.setattr(command, "text_records", lambda _: ["v=DMARC1; p=none"])
    ses.behind, ses.max_send_rate = engine.url, 1_000.0
    to_engine = partial(deploy, engine, tmp_path, base_url=ses.url)
    outputs = to_engine(templates=_templates(tmp_path, BEFORE))
    deployed = Deployed(engine, Service.at(engine, outputs), ses)
    found = _levels(deployed)
    _send_test(deployed)

    groups = _groups()
    _fill(deployed, groups)
    waiting = [*groups]
    assert _tick(deployed, waiting.pop(0)) == [BEFORE] * _READERS
    _upgrade(deployed, waiting, partial(to_engine, templates=_templates(tmp_path, AFTER)))
    assert _tick(deployed, waiting.pop(0)) == [AFTER] * _READERS
    assert _levels(deployed) == found
    deployed.gazette("rollback", "--yes")
    assert _tick(deployed, waiting.pop(0)) == [BEFORE] * _READERS
    aliases = {f"alias {step.name.title()}Live" for step in STEPS}
    assert _levels(deployed).keys() - found.keys() == aliases, "they are not at the newest version"
    _lose_and_restore(deployed)
    for group in waiting:
        assert _tick(deployed, group) == [BEFORE] * _READERS

    readers = [f"{reader}@example.com" for group in groups for reader in group.readers]
    assert Counter(mail.to for mail in ses.accepted) == Counter(readers), "nothing lost, none twice"
    _is_well(deployed)
    destroy(engine, tmp_path)
    left = deployed.service.functions.list_functions()["Functions"]
    assert not left, [each["FunctionName"] for each in left]
    assert not deployed.service.tables.list_tables()["TableNames"]
