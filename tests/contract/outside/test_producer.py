"""What the producer's module promises services: what they put reaches ingest as they put it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from gazette.adapters.contract import decode
from gazette.domain.commands import ChangeSubscriber, Command, CommandList, CreateEvents

from gazette_cli.init.files import BUS, Project, files
from producer.gazette_events import NotPut, Producer
from tests.code_blocks import code_blocks
from tests.unit.ingest.test_contract import EVENT, SUBSCRIBER, envelope

README = Path(__file__).parents[3] / "README.md"


class Ingest:
    """A bus `gazette` on moto, and what it took, as its rule hands it to the ingest queue."""

    def __init__(self) -> None:
        boto3.client("events").create_event_bus(Name="gazette")
        self.taken: list[Any] = []

    def commands(self) -> list[Command]:
        """What ingest would do, message by message."""
        return [
            decode(envelope(each["DetailType"], json.loads(each["Detail"]))) for each in self.taken
        ]


@pytest.fixture
def ingest(engine: str, monkeypatch: pytest.MonkeyPatch) -> Ingest:
    ingest = Ingest()
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def heard(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        answer = real(client, operation, request)
        if operation == "PutEvents":
            told = zip(request["Entries"], answer["Entries"], strict=True)
            ingest.taken += [entry for entry, result in told if "EventId" in result]
        return answer

    monkeypatch.setattr(BaseClient, "_make_api_call", heard)
    return ingest


moto = pytest.mark.parametrize("engine", ["moto"], indirect=True)


@moto
def test_list_arrives_as_a_single_message_with_all_events(ingest: Ingest) -> None:
    said = [EVENT | {"id": f"e{number}", "excerpt": "Größe 😀"} for number in range(130)]
    assert Producer("shop.comments").put(said) == 130
    commands = ingest.commands()
    assert sorted(len(each.events) for each in commands if isinstance(each, CreateEvents)) == [
        30,
        100,
    ]
    stored = [
        each for command in commands if isinstance(command, CreateEvents) for each in command.events
    ]
    assert {each.id for each in stored} == {each["id"] for each in said}
    assert {each.excerpt for each in stored} == {"Größe 😀"}


@moto
def test_profiles_arrive_in_one_list(ingest: Ingest) -> None:
    said = [SUBSCRIBER | {"user_id": f"user{number}"} for number in range(12)]
    assert Producer("shop.accounts").put(said, "subscriber.changed") == 12
    (commands,) = ingest.commands()
    assert isinstance(commands, CommandList)
    changed = [each for each in commands.commands if isinstance(each, ChangeSubscriber)]
    assert [each.subscriber.user_id for each in changed] == [each["user_id"] for each in said]


def _readmes() -> dict[str, str]:
    """Return our README, and the one of a new project."""
    addresses = {"sender": "digest@shop.example", "alarm_email": "team@shop.example"}
    project = Project(name="shop", list_id="digest.shop.example", **addresses)
    return {"gazette": README.read_text(), "project": files(project)[Path("README.md")]}


@moto
@pytest.mark.parametrize("page", ["gazette", "project"])
def test_readme_example_is_accepted(
    page: str, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the module in the folder of the service, and the bus of a new project's stage `test`."""
    boto3.client("events").create_event_bus(Name=BUS)
    (snippet,) = code_blocks(_readmes()[page], "python")
    monkeypatch.syspath_prepend(str(README.parent / "producer"))
    exec(compile(snippet, str(README), "exec"), {})  # noqa: S102 -- what readers paste
    assert {each["EventBusName"] for each in ingest.taken} == {BUS}
    profile, created = ingest.commands()
    assert isinstance(profile, ChangeSubscriber)
    assert isinstance(created, CreateEvents)
    # The daily digest sends an event that is older than a day, even if its frequency is immediate.
    newest = datetime.now(UTC) - timedelta(minutes=1)
    assert profile.subscriber.changed_at > newest
    assert all(each.occurred_at > newest for each in created.events)


@moto
def test_missing_bus_is_reported(engine: str) -> None:
    with pytest.raises(NotPut, match="1 of 1 details were not published to the bus elsewhere"):
        Producer("shop.comments", bus="elsewhere").put([EVENT])
