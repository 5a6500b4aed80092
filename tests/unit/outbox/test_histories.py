"""Random histories of the real steps: a consumer that has every event, in any order and more than
once, knows what the rows say.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from gazette.adapters.aws.bus import custom_days, day_name
from gazette.adapters.aws.events_out import detail_of
from gazette.domain.commands import ChangeSubscriber, ChoosePreferences, EraseSubscriber, MarkActive
from gazette.domain.events_out.changes import ReaderChange, events_of
from gazette.domain.events_out.events import EventOut
from gazette.domain.events_out.subscribers import present_state
from gazette.domain.scheduling.calendar import AT_EIGHT, Days, DigestTimes
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.frequency import DEFAULT, EVERYTHING, Frequency
from gazette.domain.subscribers.subscriber import Reader, Subscriber, SubscriberStatus
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import warehouse
from tests.builders import NOW, a_subscriber
from tests.streams import Recorded
from tests.world import World

MINUTE = timedelta(minutes=1)
ANNS, ELSEWHERE = "ann@example.com", "ann@elsewhere.example"
CATEGORIES = ("comment", "like")

often = st.sampled_from(Frequency)
custom = st.sampled_from(
    (Days(frozenset({1, 4})), Days(frozenset({2}), every=3, phase=1), Days(month_day=3))
)
days = st.dates(date(2026, 11, 1), date(2026, 12, 24))
choices = st.builds(
    Choice,
    frequency=st.none() | often | st.just(DEFAULT),
    frequencies=st.none()
    | st.dictionaries(st.sampled_from(CATEGORIES), often | st.just(DEFAULT), min_size=1).map(
        lambda chosen: tuple(sorted(chosen.items()))
    ),
    clock=st.none() | st.tuples(st.integers(0, 23), st.none() | st.integers(0, 59)),
    weekly_on=st.none() | st.integers(1, 7),
    custom_on=st.none() | custom,
    paused_until=st.none() | days,
    time_zone=st.none() | st.sampled_from(("Asia/Tokyo", "Europe/Paris")),
)
times = st.just(AT_EIGHT) | st.builds(
    DigestTimes, hour=st.integers(6, 9), custom_on=custom, paused_until=st.none() | days
)
profiles = st.builds(
    lambda chosen, times, email, zone: replace(
        a_subscriber(email=email, times=times, **chosen), time_zone=zone
    ),
    st.dictionaries(st.sampled_from(CATEGORIES), often),
    times,
    st.sampled_from((ANNS, ELSEWHERE)),
    st.sampled_from(("Europe/Berlin", "Asia/Tokyo")),
)
acts = (
    profiles
    | choices
    | st.sampled_from(("leave", "return", "bounce", "erase", "dormant", "active"))
)
histories = st.lists(acts, min_size=1, max_size=12)


def act_on(world: World, act: Subscriber | Choice | str) -> None:
    at = world.clock()
    row = world.subscribers.rows.get("ann")
    address = row.email if isinstance(row, Subscriber) else ANNS
    match act:
        case Subscriber():
            choices = tuple((at, chosen) for _, chosen in act.choices)
            world.say(ChangeSubscriber(replace(act, changed_at=at, choices=choices)))
        case Choice():
            world.say(ChoosePreferences("ann", act, at))
        case "leave":
            world.unsubscribe(email=address)
        case "return":
            world.resubscribe(email=address)
        case "bounce":
            world.subscribers.set_status("ann", SubscriberStatus.SUPPRESSED)
        case "dormant":
            world.subscribers.set_status("ann", SubscriberStatus.DORMANT)
        case "erase":
            world.say(EraseSubscriber("ann", at))
        case "active":
            world.say(MarkActive("ann", at))


def told(history: list[Subscriber | Choice | str]) -> tuple[Reader, list[EventOut]]:
    """The reader's row after a history, and the events of every write."""
    world = World()
    rows = world.subscribers.rows = Recorded[str, Any]()
    world.say(ChangeSubscriber(replace(a_subscriber(), choices=((NOW, ()),))))
    for each in history:
        world.clock.now += MINUTE
        act_on(world, each)
    changes = (ReaderChange(before, after, world.clock()) for before, after in rows.writes)
    return rows.get("ann"), [event for change in changes for event in events_of(change)]


def envelope(event: EventOut, *, with_address: bool = False) -> dict[str, Any]:
    """An event as a queue behind a rule gets it."""
    text = json.dumps(detail_of(event, with_address=with_address))
    return {"detail-type": event.type.value, "detail": json.loads(text)}


def in_force(reader: Subscriber) -> dict[str, str]:
    """The choices of a reader in the words of the consumer, with every default."""
    times, chosen = reader.times, dict(reader.chosen)
    everything = chosen.pop(EVERYTHING, None)
    values: dict[str, Any] = {
        "digest.hour": times.hour,
        "digest.minute": times.minute,
        "digest.weekly": {"day": day_name(times.weekly_on)},
        "digest.custom": custom_days(times.custom_on, datetime(2026, 1, 5, tzinfo=UTC)),
        "digest.paused_until": times.paused_until.isoformat() if times.paused_until else None,
    }
    texts = {name: json.dumps(value) for name, value in values.items()}
    texts |= {f"frequencies.{name}": each.value for name, each in chosen.items()}
    texts |= {"frequency": everything.value} if everything else {}
    return {name: text for name, text in texts.items() if text != "null"}


AWAY = {
    SubscriberStatus.UNSUBSCRIBED: "subscriber.left",
    SubscriberStatus.SUPPRESSED: "subscriber.suppressed",
}
DEFAULTS = in_force(replace(a_subscriber(), choices=((NOW, ()),), times=AT_EIGHT))


def known(choices: Mapping[str, str]) -> dict[str, str]:
    """What a consumer knows of a reader's choices, with the defaults of what it was not told."""
    rest = {name: text for name, text in choices.items() if name != "time_zone"}
    return DEFAULTS | rest


@given(history=histories, data=st.data())
@settings(max_examples=100, deadline=None)
def test_consumer_knows_status_and_choices_of_every_history(
    history: list[Subscriber | Choice | str], data: st.DataObject
) -> None:
    row, events = told(history)
    by_id: dict[str, set[str]] = {}
    for event in events:
        by_id.setdefault(event.id, set()).add(json.dumps(envelope(event)))
    assert all(len(contents) == 1 for contents in by_id.values())

    twice = data.draw(st.permutations([*events, *events]))
    with warehouse.opened() as db:
        warehouse.store(db, map(envelope, twice))
        if not isinstance(row, Subscriber):
            return
        assert warehouse.away(db).get("ann") == AWAY.get(row.status)
        assert known(warehouse.choices(db).get("ann", {})) == in_force(row)
        zone = warehouse.choices(db).get("ann", {}).get("time_zone", "Europe/Berlin")
        assert zone == row.time_zone


@given(history=histories, lost=st.lists(st.booleans(), min_size=40))
@settings(max_examples=50, deadline=None)
def test_state_told_anew_replaces_what_was_lost(
    history: list[Subscriber | Choice | str], lost: list[bool]
) -> None:
    row, events = told(history)
    arrived = [event for event, is_lost in zip(events, lost, strict=False) if not is_lost]
    if not isinstance(row, Subscriber):
        return
    state = [*present_state(row, datetime(2027, 1, 1, tzinfo=UTC))]
    with warehouse.opened() as db:
        warehouse.store(db, map(envelope, [*state, *arrived]))
        assert known(warehouse.choices(db).get("ann", {})) == in_force(row)
        assert warehouse.away(db).get("ann") == AWAY.get(row.status)
