"""What the port `Bus` promises: what readers say here reaches ingest as they said it."""

import json
from collections import deque
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ReadTimeoutError
from gazette.adapters.aws.bus import EventBridgeBus, changed_categories, encode
from gazette.adapters.contract import decode, read_detail
from gazette.domain.commands import ChangeFollow, ChoosePreferences
from gazette.domain.errors import Unavailable
from gazette.domain.muting.mutes import Mute
from gazette.domain.ports.bus import Bus
from gazette.domain.scheduling.calendar import Days
from gazette.domain.subscribers.choices import NOTHING, Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import DEFAULT, Frequencies, Frequency, frequencies
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW
from tests.fakes import FakeBus
from tests.unit.ingest.test_contract import envelope

CHOSEN = ChoosePreferences("ann", Choice(frequency=Frequency.WEEKLY), NOW)
FOLLOWS = [
    ChangeFollow("ann", f"post#{number}", FollowState(True, None, "Größe"), NOW)
    for number in range(12)
]


@dataclass
class Wire:
    """Of the next PutEvents, `script` says how many entries, from the first, are refused, or which
    error there is. `taken` are the others.
    """

    script: deque[int | Exception] = field(default_factory=deque)
    taken: list[Any] = field(default_factory=list)

    def received(self) -> list[Any]:
        """What comes to ingest."""
        for entry in self.taken:
            assert (entry["EventBusName"], entry["Source"]) == ("gazette", "gazette.preferences")
        bodies = (
            envelope(
                each["DetailType"],
                json.loads(each["Detail"]),
                source=each["Source"],
                resources=each.get("Resources", []),
            )
            for each in self.taken
        )
        return [decode(body) for body in bodies]


@pytest.fixture
def wire(engine: str, monkeypatch: pytest.MonkeyPatch) -> Wire:
    wire = Wire()
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def scripted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation != "PutEvents":
            return real(client, operation, request)
        refused = wire.script.popleft() if wire.script else 0
        if isinstance(refused, Exception):
            raise refused
        entries = request["Entries"]
        taken = entries[refused:]
        answer = real(client, operation, {"Entries": taken}) if taken else {"Entries": []}
        wire.taken += taken
        results = [{"ErrorCode": "ThrottlingException"}] * len(entries[:refused])
        return {"Entries": results + answer["Entries"]}

    if engine == "moto":
        monkeypatch.setattr(BaseClient, "_make_api_call", scripted)
    return wire


@pytest.fixture
def bus(engine: str, wire: Wire) -> Bus:
    if engine != "moto":
        return FakeBus()
    client = boto3.client("events")
    client.create_event_bus(Name="gazette")
    return EventBridgeBus(client, "gazette", source="gazette.preferences")


def test_command_put_on_the_bus_is_received_unchanged(bus: Bus, wire: Wire) -> None:
    assert bus.put([CHOSEN, *FOLLOWS])
    assert (bus.taken if isinstance(bus, FakeBus) else wire.received()) == [CHOSEN, *FOLLOWS]


MUTED_AND_TAKEN_BACK = ChoosePreferences(
    "ann",
    Choice(frequencies=(("comment", Frequency.NEVER), ("like", DEFAULT))),
    NOW,
    whole_map=frequencies({"comment": Frequency.NEVER, "mention": Frequency.WEEKLY}),
)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_category_choice_is_sent_as_a_map_and_a_patch(bus: Bus, wire: Wire) -> None:
    """That version refuses `default`, and takes what it gets for all that counts."""
    assert bus.put([MUTED_AND_TAKEN_BACK])
    (entry,) = wire.taken
    assert json.loads(entry["Detail"])["frequencies"] == {"comment": "never", "mention": "weekly"}
    assert wire.received() == [MUTED_AND_TAKEN_BACK]


def test_resetting_the_only_choice_sends_an_empty_map() -> None:
    only = ChoosePreferences("ann", Choice(frequencies=(("like", DEFAULT),)), NOW, whole_map=())
    _, detail = encode(only)
    assert detail["frequencies"] == {}
    assert changed_categories(only) == ["gazette:changed-category:like"]


def test_truncated_category_map_keeps_mutes_first() -> None:
    whole = {f"category_{number:03}": Frequency.DAILY for number in range(120)}
    whole |= {f"muted_{number:02}": Frequency.NEVER for number in range(60)}
    muted = Choice(frequencies=frequencies({"zebra": Frequency.NEVER}))
    command = ChoosePreferences("ann", muted, NOW, whole_map=frequencies(whole))
    _, detail = encode(command)
    assert len(detail["frequencies"]) == 100
    assert sum(often == "never" for often in detail["frequencies"].values()) == 61


@pytest.mark.parametrize(
    "given",
    [
        {"source": "shop.accounts", "resources": ["gazette:changed-category:like"]},
        {"source": "gazette.preferences", "resources": ["gazette:changed-category:*", "arn:like"]},
        {"source": "gazette.preferences", "resources": []},
    ],
)
def test_foreign_resources_are_ignored(given: dict[str, Any]) -> None:
    detail = {"user_id": "ann", "chosen_at": NOW.isoformat(), "frequencies": {"comment": "never"}}
    command = decode(envelope("preferences.chosen", detail, **given))
    assert command == ChoosePreferences(
        "ann", Choice(frequencies=frequencies({"comment": Frequency.NEVER})), NOW
    )


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_throttled_entries_are_put_again(bus: Bus, wire: Wire) -> None:
    wire.script.extend([2, 1])
    assert bus.put(FOLLOWS[:3])
    assert sorted(command.entity for command in wire.received()) == [
        command.entity for command in FOLLOWS[:3]
    ]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_bus_reports_failure_if_every_entry_is_rejected(bus: Bus, wire: Wire) -> None:
    wire.script.extend([10, 10, 10])
    assert not bus.put(FOLLOWS)
    assert wire.taken == []


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.parametrize(
    "script",
    [
        [1, 1, 1],
        [0, 2, 2, 2],
        [ReadTimeoutError(endpoint_url="events")],
        [0, ReadTimeoutError(endpoint_url="events")],
    ],
    ids=["a part", "the second call", "no answer", "no second answer"],
)
def test_bus_reports_an_unknown_result_if_entries_may_be_accepted(
    bus: Bus, wire: Wire, script: list[int | Exception]
) -> None:
    wire.script.extend(script)
    with pytest.raises(Unavailable):
        bus.put(FOLLOWS)


instants = st.integers(0, 9999).map(lambda minutes: NOW - timedelta(minutes=minutes, seconds=1))
often = st.sampled_from(Frequency)
weeks = st.integers(1, 4).flatmap(
    lambda every: st.builds(
        Days,
        st.frozensets(st.integers(1, 7), min_size=1),
        st.just(every),
        st.integers(0, every - 1),
    )
)
choices = st.builds(
    Choice,
    frequency=st.none() | often,
    frequencies=st.none()
    | st.dictionaries(st.sampled_from(["like", "comment_2"]), often).map(frequencies),
    clock=st.none() | st.tuples(st.integers(0, 23), st.none() | st.integers(0, 59)),
    weekly_on=st.none() | st.integers(1, 7),
    custom_on=st.none() | weeks | st.integers(1, 31).map(lambda day: Days(month_day=day)),
    paused_until=st.none() | st.dates(date(2026, 11, 1), date(2026, 12, 31)),
    time_zone=st.none() | st.sampled_from(["Europe/Berlin", "Pacific/Kiritimati"]),
    quiet_hours=st.none() | st.sampled_from(["22:30-07:00", "none", "default"]),
).filter(lambda choice: choice != NOTHING)
follows = st.builds(
    ChangeFollow,
    st.just("ann"),
    st.sampled_from(["post#p1", "post#a#b Größe"]),
    st.one_of(
        st.just(FollowState(False)),
        st.builds(
            FollowState, st.just(True), st.none() | often, st.sampled_from(["", "<b>\"Größe' &"])
        ),
    ),
    instants,
)
mutes_at = st.lists(
    st.tuples(
        st.sampled_from(["post#p1", "post#a#b Größe"]),
        st.booleans(),
        st.sampled_from(["", "<b>\"Größe' &"]),
    ),
    unique_by=lambda each: each[0],
)


@st.composite
def chosen_with_mutes(draw: st.DrawFn) -> ChoosePreferences:
    """A choice with mutes, which are dated like the choice. Ended mutes come last."""
    at = draw(instants)
    mutes = [
        Mute(entity, at, is_muted, title if is_muted else "")
        for entity, is_muted, title in draw(mutes_at)
    ]
    mutes.sort(key=lambda mute: not mute.is_muted)
    choice = draw(choices | st.just(NOTHING)) if mutes else draw(choices)
    return ChoosePreferences("ann", choice, at, tuple(mutes))


chosen = chosen_with_mutes()


@given(chosen | follows)
def test_reader_commands_are_decoded_as_encoded(
    command: ChoosePreferences | ChangeFollow,
) -> None:
    detail_type, detail = encode(command)
    reading = read_detail(detail_type, json.loads(json.dumps(detail)))
    assert (reading.command, reading.problems) == (command, ())


categories = st.sampled_from(["like", "comment_2", "mention"])
patches = st.dictionaries(categories, often | st.just(DEFAULT), min_size=1).map(frequencies)
whole_maps = st.dictionaries(categories, often).map(frequencies)


@given(patches, whole_maps)
def test_category_choice_is_encoded_without_default_and_decoded_unchanged(
    patch: Frequencies, before: Frequencies
) -> None:
    """`whole_map` is what counts after the choice."""
    named = {**dict(before), **dict(patch)}
    after = frequencies({name: each for name, each in named.items() if each != DEFAULT})
    command = ChoosePreferences("ann", Choice(frequencies=patch), NOW, whole_map=after)
    detail_type, detail = encode(command)
    assert detail["frequencies"] == dict(after)
    body = envelope(
        detail_type,
        detail,
        source="gazette.preferences",
        resources=changed_categories(command),
    )
    assert decode(body) == command
