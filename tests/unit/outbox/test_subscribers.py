"""The events out about readers: a change is a higher revision, and its author is named."""

from dataclasses import replace
from datetime import date, timedelta
from itertools import product

import pytest
from gazette.domain.events_out.events import (
    By,
    EventOut,
    EventType,
    PreferencesChanged,
    Setting,
    SubscriberEvent,
)
from gazette.domain.events_out.subscribers import present_state, reader_events
from gazette.domain.muting.mutes import Mute
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.choices import Choice, Preferences
from gazette.domain.subscribers.frequency import DEFAULT, EVERYTHING, Frequency, frequencies
from gazette.domain.subscribers.history import History
from gazette.domain.subscribers.subscriber import (
    Erased,
    Reader,
    Subscriber,
    SubscriberStatus,
)

from tests.builders import NOW, a_subscriber

LATER = NOW + timedelta(minutes=1)
NEW_STATUS = as_stored(SubscriberStatus, "snoozed")
ACTIVE, DORMANT, UNSUBSCRIBED, SUPPRESSED = SubscriberStatus
TYPES = {
    ACTIVE: EventType.SUBSCRIBER_RETURNED,
    DORMANT: EventType.SUBSCRIBER_RETURNED,
    UNSUBSCRIBED: EventType.SUBSCRIBER_LEFT,
    SUPPRESSED: EventType.SUBSCRIBER_SUPPRESSED,
}
ERASED = Erased("ann", NOW)


def reader(status: SubscriberStatus = ACTIVE, revision: int = 5, **chosen: Frequency) -> Subscriber:
    row = replace(a_subscriber(), choices=((NOW, frequencies(chosen)),))
    return replace(row, status=status, revision=revision)


def changed(before: Reader, after: Reader) -> list[EventOut]:
    return [*reader_events(before, after, LATER)]


def types(before: Reader, after: Reader) -> list[EventType]:
    return [event.type for event in changed(before, after)]


@pytest.mark.parametrize(("was", "now"), [*product((*SubscriberStatus, NEW_STATUS), repeat=2)])
def test_every_pair_of_statuses_has_an_answer(was: SubscriberStatus, now: SubscriberStatus) -> None:
    expected = [TYPES[now]] if now in TYPES and TYPES.get(was) is not TYPES[now] else []
    assert types(reader(was), reader(now, 6)) == expected


def test_return_on_a_consent_is_by_the_service() -> None:
    left = reader(UNSUBSCRIBED)
    (event,) = changed(left, replace(left, status=ACTIVE, revision=6, returned_at=NOW))
    assert isinstance(event, SubscriberEvent)
    assert (event.type, event.by) == (EventType.SUBSCRIBER_RETURNED, By.SERVICE)
    again = replace(left, returned_at=NOW)
    (event,) = changed(again, replace(again, status=ACTIVE, revision=6))
    assert isinstance(event, SubscriberEvent)
    assert event.by is By.READER


@pytest.mark.parametrize("revision", [4, 5])
@pytest.mark.parametrize("status", SubscriberStatus)
def test_only_a_higher_revision_is_a_change(status: SubscriberStatus, revision: int) -> None:
    """A row that is restored from a copy has a lower one."""
    restored = reader(status, revision, comment=Frequency.NEVER)
    for was in SubscriberStatus:
        assert changed(reader(was), restored) == []


@pytest.mark.parametrize("status", SubscriberStatus)
def test_restored_row_of_deleted_reader_is_silent(status: SubscriberStatus) -> None:
    assert changed(None, reader(status, 2, comment=Frequency.NEVER)) == []


def test_row_from_before_an_erasure_is_silent() -> None:
    old = replace(reader(UNSUBSCRIBED), erased_at=NOW - timedelta(days=1))
    for restored in (old, reader(UNSUBSCRIBED)):
        assert changed(ERASED, restored) == []
        assert changed(replace(reader(revision=1), erased_at=NOW), restored) == []


def test_erasure_is_silent() -> None:
    assert changed(reader(), ERASED) == changed(reader(), None) == changed(ERASED, None) == []


def test_registration_is_silent() -> None:
    plain = replace(reader(revision=1), times=replace(a_subscriber().times, minute=None))
    assert changed(None, plain) == []


def test_registration_at_suppressed_address_is_published() -> None:
    (first, _) = changed(None, reader(SUPPRESSED, 1))
    assert (first.type, first.id) == (EventType.SUBSCRIBER_SUPPRESSED, "ann::1:status")


def test_registration_with_choices_publishes_them() -> None:
    (event,) = changed(None, reader(revision=1, comment=Frequency.NEVER))
    assert isinstance(event, PreferencesChanged)
    assert event.frequencies == (("comment", Frequency.NEVER),)
    assert event.settings == {Setting.CLOCK}  # a_subscriber has chosen a minute
    assert event.by is By.SERVICE


def test_return_after_erasure_publishes_the_whole_state() -> None:
    back = replace(reader(revision=1, comment=Frequency.NEVER), erased_at=NOW)
    status, preferences = changed(ERASED, back)
    assert (status.id, status.type) == (
        "ann:20261122T070300000000Z:1:status",
        EventType.SUBSCRIBER_RETURNED,
    )
    assert preferences.id == "ann:20261122T070300000000Z:1:state"
    assert isinstance(preferences, PreferencesChanged)
    assert preferences.settings == {*Setting}


def test_revisions_begin_anew_after_an_erasure() -> None:
    """A lower revision of a later life is a change."""
    before = reader(UNSUBSCRIBED, 9)
    assert types(before, replace(reader(revision=1), erased_at=NOW)) == [
        EventType.SUBSCRIBER_RETURNED,
        EventType.PREFERENCES_CHANGED,
    ]


def test_time_of_leaving_is_that_of_the_reader() -> None:
    (event,) = changed(reader(), replace(reader(UNSUBSCRIBED, 6), left_at=NOW))
    assert event.at == NOW
    (event,) = changed(reader(), reader(UNSUBSCRIBED, 6))
    assert event.at == LATER


@pytest.mark.parametrize(
    ("status", "is_by_profile", "by"),
    [
        (UNSUBSCRIBED, False, By.READER),
        (SUPPRESSED, True, By.GAZETTE),
        (SUPPRESSED, False, By.GAZETTE),
        (ACTIVE, False, By.READER),
        (ACTIVE, True, By.SERVICE),
    ],
)
def test_author_of_a_status(status: SubscriberStatus, *, is_by_profile: bool, by: By) -> None:
    before = reader(UNSUBSCRIBED if status is SUPPRESSED else SUPPRESSED)
    after = replace(reader(status, 6), changed_at=LATER if is_by_profile else NOW)
    (event,) = changed(before, after)
    assert not isinstance(event, PreferencesChanged)
    assert getattr(event, "by", None) is by


def with_choice(choice: Choice) -> Subscriber:
    before = reader(comment=Frequency.DAILY, like=Frequency.WEEKLY)
    chosen = before.reader_choices.with_choice(LATER, choice)
    return replace(before.with_choices(before.service_choices, chosen), revision=6)


def test_choice_of_a_reader_has_only_what_is_in_force_differently() -> None:
    before = with_choice(Choice())
    after = with_choice(
        Choice(
            frequencies=(("comment", Frequency.NEVER), ("like", Frequency.WEEKLY)),
            paused_until=date(2026, 12, 24),
        )
    )
    (event,) = changed(replace(before, revision=5), after)
    assert isinstance(event, PreferencesChanged)
    assert event.frequencies == (("comment", Frequency.NEVER),)
    assert event.settings == {Setting.PAUSED_UNTIL}
    assert (event.by, event.id) == (By.READER, "ann::6:preferences")


def test_withdrawn_choice_is_published_as_default() -> None:
    muted = with_choice(Choice(frequency=Frequency.NEVER))
    back = replace(with_choice(Choice()), revision=7)
    (event,) = changed(muted, back)
    assert isinstance(event, PreferencesChanged)
    assert event.frequencies == ((EVERYTHING, DEFAULT),)


def test_profile_is_of_the_service() -> None:
    before = reader(comment=Frequency.DAILY)
    service: History[Preferences] = (
        *before.service_choices,
        (LATER, Preferences(frequencies({"comment": "weekly"}), before.times, "Asia/Tokyo")),
    )
    after = replace(before.with_choices(service, before.reader_choices), revision=6)
    (event,) = changed(before, after)
    assert isinstance(event, PreferencesChanged)
    assert event.by is By.SERVICE
    assert event.settings == {Setting.TIME_ZONE}
    assert event.preferences.time_zone == "Asia/Tokyo"


def test_change_without_effect_on_preferences_is_silent() -> None:
    assert changed(reader(), replace(reader(revision=6), name="Anna", email="a@b.example")) == []


def test_frequency_of_a_newer_version_is_not_published() -> None:
    hourly = as_stored(Frequency, "hourly")
    assert (
        changed(reader(), replace(reader(revision=6), choices=((NOW, (("like", hourly),)),))) == []
    )


@pytest.mark.parametrize("status", [*SubscriberStatus, NEW_STATUS])
def test_present_state_has_status_and_all_preferences(status: SubscriberStatus) -> None:
    events = [*present_state(reader(status, like=Frequency.NEVER), LATER)]
    expected = [TYPES[status]] if status in TYPES else []
    assert [event.type for event in events] == [*expected, EventType.PREFERENCES_CHANGED]
    assert events[-1].id == "ann::5:state"
    assert not [*present_state(ERASED, LATER)]


def test_ids_of_different_readers_never_collide() -> None:
    lives = (None, NOW, LATER)
    names = ("a", "a:", "a::1", "a:20261122T070300000000Z", ":", "a:20261122T070300000000Z:")
    ids = [
        event.id
        for name, erased_at, revision in product(names, lives, (1, 11))
        for event in present_state(
            replace(reader(revision=revision), user_id=name, erased_at=erased_at), NOW
        )
    ]
    assert len(ids) == len({*ids}) == 2 * len(names) * len(lives) * 2


def test_mute_and_its_end_are_published_as_changes_by_the_reader() -> None:
    before = replace(reader(), mutes=())
    mute = Mute("post#p1", NOW)
    muted = replace(before, mutes=(mute,), revision=6)
    (event,) = changed(before, muted)
    assert isinstance(event, PreferencesChanged)
    assert (event.mutes, event.by) == ((mute,), By.READER)
    (event,) = changed(muted, replace(muted, mutes=(mute.ended,), revision=7))
    assert isinstance(event, PreferencesChanged)
    assert (event.mutes, event.frequencies, event.settings) == ((mute.ended,), (), frozenset())


def test_muted_thing_that_is_muted_again_is_not_published_again() -> None:
    before = replace(reader(), mutes=(Mute("post#p1", NOW),))
    assert not changed(before, replace(before, mutes=(Mute("post#p1", LATER),), revision=6))


def test_present_state_contains_the_muted_things() -> None:
    mutes = (Mute("post#p1", NOW), Mute("post#p2", NOW, is_muted=False))
    *_, event = present_state(replace(reader(), mutes=mutes), LATER)
    assert isinstance(event, PreferencesChanged)
    assert event.mutes == mutes[:1]
