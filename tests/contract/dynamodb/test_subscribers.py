"""What the port `Subscribers` promises, held against our fake and the real adapter on moto."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.muting.mutes import Mute
from gazette.domain.ports.stores import Subscribers
from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.subscribers.choices import NO_CHOICES, Choice, ReaderChoices
from gazette.domain.subscribers.frequency import Frequency, frequencies
from gazette.domain.subscribers.subscriber import (
    EarlyChoices,
    Erased,
    Reader,
    Subscriber,
    SubscriberStatus,
)

from tests.builders import NOW, a_subscriber
from tests.contract.conftest import SECOND

TODAY = NOW.date()
TOMORROW = TODAY + timedelta(days=1)


def stored(subscribers: Subscribers, user_id: str = "ann") -> Subscriber:
    found = subscribers.get(user_id)
    assert isinstance(found, Subscriber)
    return found


def test_subscriber_is_read_as_stored(subscribers: Subscribers) -> None:
    ann = replace(
        a_subscriber(
            times=DigestTimes(
                hour=21,
                minute=30,
                weekly_on=7,
                custom_on=Days(frozenset({6})),
                paused_until=TOMORROW,
            )
        ),
        name="Änn 😀",
        locale="de-CH",
        status=SubscriberStatus.SUPPRESSED,
        choices=(
            (NOW - SECOND, ()),
            (NOW, frequencies({"mention": Frequency.IMMEDIATE, "comment": Frequency.NEVER})),
        ),
    )
    assert subscribers.get("ann") is None
    assert subscribers.put(ann, replacing=None)
    assert subscribers.get("ann") == ann


@pytest.mark.parametrize("email", ["ann@example.com-", f"ann@example.{'a' * 64}"])
def test_stored_address_that_is_no_longer_valid_is_readable(
    subscribers: Subscribers, email: str
) -> None:
    assert subscribers.put(a_subscriber(email=email), replacing=None)
    assert subscribers.get("ann") == a_subscriber(email=email)


def test_profile_is_created_only_if_missing(subscribers: Subscribers) -> None:
    assert subscribers.put(a_subscriber(), replacing=None)
    other = a_subscriber(email="other@example.com")
    assert not subscribers.put(other, replacing=None)
    assert subscribers.get("ann") == a_subscriber()


def test_profile_is_replaced_only_if_unchanged_since_read(subscribers: Subscribers) -> None:
    subscribers.put(a_subscriber(), replacing=None)
    second = replace(a_subscriber(changed_at=NOW + SECOND), revision=2)
    assert subscribers.put(second, replacing=a_subscriber())
    third = replace(a_subscriber(email="third@example.com"), revision=2)
    assert not subscribers.put(third, replacing=a_subscriber())
    assert subscribers.get("ann") == second


def test_profile_without_minute_and_pause_removes_both(
    subscribers: Subscribers,
) -> None:
    first = a_subscriber(times=DigestTimes(minute=30, paused_until=TOMORROW))
    subscribers.put(first, replacing=None)
    second = replace(first, times=DigestTimes(), revision=2)
    assert subscribers.put(second, replacing=first)
    assert subscribers.get("ann") == second


@pytest.mark.parametrize("read", [a_subscriber(), Erased("ann", NOW)])
def test_missing_profile_is_not_replaced(subscribers: Subscribers, read: Reader) -> None:
    assert not subscribers.put(a_subscriber(), replacing=read)
    assert subscribers.get("ann") is None


@pytest.mark.parametrize("read", [None, Erased("ann", NOW - SECOND), a_subscriber()])
def test_erased_profile_is_replaced_only_after_reading_the_erasure(
    subscribers: Subscribers, read: Reader
) -> None:
    subscribers.erase("ann", NOW)
    assert not subscribers.put(a_subscriber(), replacing=read)
    assert subscribers.get("ann") == Erased("ann", NOW)


def test_returned_reader_keeps_the_time_of_the_erasure(subscribers: Subscribers) -> None:
    subscribers.erase("ann", NOW)
    back = a_subscriber(changed_at=NOW + SECOND)
    assert subscribers.put(back, replacing=Erased("ann", NOW))
    assert subscribers.get("ann") == replace(back, erased_at=NOW)
    again = replace(back, revision=2)
    assert subscribers.put(again, replacing=stored(subscribers))
    assert subscribers.get("ann") == replace(again, erased_at=NOW)


def test_time_of_a_late_erasure_is_kept(subscribers: Subscribers) -> None:
    reader = replace(a_subscriber(), revision=1)
    assert subscribers.put(reader, replacing=None)
    erased = replace(reader, erased_at=NOW - timedelta(days=1), revision=2)
    assert subscribers.put(erased, replacing=reader)
    assert subscribers.get("ann") == erased
    assert not subscribers.put(replace(reader, revision=2), replacing=reader)


def test_returned_reader_is_not_confused_with_the_erased_profile(
    subscribers: Subscribers,
) -> None:
    """Both are of the first revision."""
    subscribers.put(a_subscriber(), replacing=None)
    subscribers.erase("ann", NOW)
    back = a_subscriber(changed_at=NOW + SECOND)
    subscribers.put(back, replacing=Erased("ann", NOW))
    assert not subscribers.put(replace(a_subscriber(), revision=2), replacing=a_subscriber())
    subscribers.mark_routed(a_subscriber(), "the choices of before")
    assert subscribers.get("ann") == replace(back, erased_at=NOW)


def test_profile_write_keeps_activity_and_routing_state(
    subscribers: Subscribers,
) -> None:
    subscribers.put(a_subscriber(), replacing=None)
    subscribers.mark_active("ann", TODAY)
    subscribers.mark_routed(a_subscriber(), "the choices")
    second = replace(a_subscriber(), revision=2, routed_for="others", active_on=TOMORROW)
    assert subscribers.put(second, replacing=a_subscriber())
    assert subscribers.get("ann") == replace(second, routed_for="the choices", active_on=TODAY)


def test_latest_end_of_the_marks_is_kept(subscribers: Subscribers) -> None:
    subscribers.put(a_subscriber(), replacing=None)
    for day in (TODAY, TOMORROW, TODAY):
        subscribers.mark_seen("ann", day)
    seen = replace(a_subscriber(), seen_until=TOMORROW)
    assert subscribers.get("ann") == seen
    second = replace(seen, revision=2, seen_until=None)
    assert subscribers.put(second, replacing=seen)
    assert subscribers.get("ann") == replace(second, seen_until=TOMORROW)


def test_marks_before_the_profile_are_known_once_it_arrives(subscribers: Subscribers) -> None:
    subscribers.mark_seen("ann", TODAY)
    assert subscribers.get("ann") is None
    assert subscribers.put(a_subscriber(), replacing=None)
    assert subscribers.get("ann") == replace(a_subscriber(), seen_until=TODAY)


def test_erased_reader_has_no_marks(subscribers: Subscribers) -> None:
    subscribers.put(a_subscriber(), replacing=None)
    subscribers.mark_seen("ann", TODAY)
    subscribers.erase("ann", NOW)
    subscribers.mark_seen("ann", TOMORROW)
    assert subscribers.get("ann") == Erased("ann", NOW)
    back = a_subscriber(changed_at=NOW + SECOND)
    subscribers.put(back, replacing=Erased("ann", NOW))
    assert stored(subscribers).seen_until is None


def test_registration_time_of_an_address_is_kept(subscribers: Subscribers) -> None:
    before = a_subscriber()
    subscribers.put(before, replacing=None)
    assert stored(subscribers).addressed_after is None
    for revision in (2, 3):
        at = NOW + revision * SECOND
        after = replace(before, addressed_after=at, revision=revision)
        assert subscribers.put(after, replacing=before)
        assert stored(subscribers) == after
        before = after


def test_latest_day_of_activity_is_kept(subscribers: Subscribers) -> None:
    subscribers.put(a_subscriber(), replacing=None)
    for day in (TODAY, TOMORROW, TODAY):
        subscribers.mark_active("ann", day)
    assert subscribers.get("ann") == replace(a_subscriber(), active_on=TOMORROW)


def test_activity_before_the_profile_is_stored_without_a_subscriber(
    subscribers: Subscribers,
) -> None:
    subscribers.mark_active("ann", TODAY)
    assert subscribers.get("ann") is None
    assert subscribers.get_many(["ann"]) == {"ann": None}
    assert subscribers.put(a_subscriber(), replacing=None)
    assert subscribers.get("ann") == replace(a_subscriber(), active_on=TODAY)


def test_erased_reader_records_no_activity(subscribers: Subscribers) -> None:
    subscribers.erase("ann", NOW)
    subscribers.mark_active("ann", TOMORROW)
    assert subscribers.get("ann") == Erased("ann", NOW)
    back = a_subscriber(changed_at=NOW + SECOND)
    subscribers.put(back, replacing=Erased("ann", NOW))
    assert stored(subscribers).active_on is None


def test_returned_reader_records_activity_again(
    subscribers: Subscribers,
) -> None:
    subscribers.erase("ann", NOW)
    subscribers.put(a_subscriber(changed_at=NOW + SECOND), replacing=Erased("ann", NOW))
    subscribers.mark_active("ann", TODAY)
    subscribers.mark_active("ann", TOMORROW)
    assert stored(subscribers).active_on == TOMORROW


def test_routing_state_is_stored_only_for_the_profile_read(
    subscribers: Subscribers,
) -> None:
    subscribers.put(a_subscriber(), replacing=None)
    subscribers.mark_routed(a_subscriber(), "first")
    assert subscribers.get("ann") == replace(a_subscriber(), routed_for="first")
    left = replace(a_subscriber(), status=SubscriberStatus.UNSUBSCRIBED, revision=2)
    assert subscribers.put(left, replacing=stored(subscribers))
    subscribers.mark_routed(a_subscriber(), "second")
    assert stored(subscribers).routed_for == "first"


def test_routing_time_only_moves_forward(subscribers: Subscribers) -> None:
    """Whoever wrote it may have been held up since it looked at the clock."""
    subscribers.put(a_subscriber(), replacing=None)
    subscribers.mark_rerouted("ann", NOW + SECOND)
    subscribers.mark_rerouted("ann", NOW)
    subscribers.mark_routed(a_subscriber(), "first", since=NOW)
    assert subscribers.get("ann") == replace(a_subscriber(), routes_since=NOW + SECOND)
    subscribers.mark_routed(a_subscriber(), "second", since=NOW + 2 * SECOND)
    marked = replace(a_subscriber(), routed_for="second", routes_since=NOW + 2 * SECOND)
    assert subscribers.get("ann") == marked
    subscribers.mark_routed(a_subscriber(), "third")
    assert subscribers.get("ann") == replace(marked, routed_for="third")
    second = replace(a_subscriber(), revision=2)
    assert subscribers.put(second, replacing=marked)
    assert subscribers.get("ann") == replace(marked, routed_for="third", revision=2)


def test_follow_change_creates_no_subscriber(subscribers: Subscribers) -> None:
    subscribers.mark_rerouted("ann", NOW)
    assert subscribers.get("ann") is None
    subscribers.erase("ann", NOW)
    subscribers.mark_rerouted("ann", NOW)
    assert subscribers.get("ann") == Erased("ann", NOW)


def test_routing_state_creates_no_subscriber(subscribers: Subscribers) -> None:
    subscribers.mark_routed(a_subscriber(), "first")
    assert subscribers.get("ann") is None
    subscribers.erase("ann", NOW)
    subscribers.mark_routed(a_subscriber(), "first")
    assert subscribers.get("ann") == Erased("ann", NOW)


def test_erasure_leaves_only_its_time(subscribers: Subscribers) -> None:
    subscribers.put(a_subscriber(), replacing=None)
    subscribers.mark_active("ann", TODAY)
    subscribers.mark_routed(a_subscriber(), "the choices")
    assert subscribers.erase("ann", NOW)
    assert subscribers.get("ann") == Erased("ann", NOW)
    back = a_subscriber(changed_at=NOW + SECOND)
    subscribers.put(back, replacing=Erased("ann", NOW))
    assert subscribers.get("ann") == replace(back, erased_at=NOW)


def test_erasure_may_precede_the_profile(subscribers: Subscribers) -> None:
    assert subscribers.erase("ann", NOW)
    assert subscribers.get("ann") == Erased("ann", NOW)
    subscribers.mark_active("bo", TODAY)
    assert subscribers.erase("bo", NOW)
    assert subscribers.get("bo") == Erased("bo", NOW)


def test_erasure_does_not_remove_a_newer_profile(subscribers: Subscribers) -> None:
    subscribers.put(a_subscriber(), replacing=None)
    assert not subscribers.erase("ann", NOW - SECOND)
    assert subscribers.get("ann") == a_subscriber()
    assert subscribers.erase("ann", NOW), "of the same instant: what is erased stays erased"


def test_latest_erasure_is_kept(subscribers: Subscribers) -> None:
    assert subscribers.erase("ann", NOW)
    assert subscribers.erase("ann", NOW), "again"
    assert not subscribers.erase("ann", NOW - SECOND)
    assert subscribers.get("ann") == Erased("ann", NOW)
    assert subscribers.erase("ann", NOW + SECOND)
    assert subscribers.get("ann") == Erased("ann", NOW + SECOND)


def test_batch_read_returns_the_state_of_each_reader(subscribers: Subscribers) -> None:
    subscribers.put(a_subscriber(), replacing=None)
    subscribers.erase("bo", NOW)
    subscribers.mark_active("cy", TODAY)
    assert subscribers.get_many(["ann", "bo", "cy", "di", "ann"]) == {
        "ann": a_subscriber(),
        "bo": Erased("bo", NOW),
        "cy": None,
        "di": None,
    }
    assert subscribers.get_many([]) == {}


def test_more_subscribers_than_a_call_allows_are_all_found(subscribers: Subscribers) -> None:
    users = {f"user{number}" for number in range(120)}
    for user in users:
        subscribers.put(a_subscriber(user), replacing=None)
    found = subscribers.get_many(users | {"nobody"})
    assert found == {"nobody": None} | {user: a_subscriber(user) for user in users}


def test_reader_becomes_dormant_only_if_unchanged_since_read(subscribers: Subscribers) -> None:
    given = a_subscriber()
    subscribers.put(given, replacing=None)
    read = stored(subscribers)
    subscribers.mark_active("ann", NOW.date())
    assert not subscribers.set_dormant(read), "a sign of life came in between"
    read = stored(subscribers)
    assert subscribers.set_dormant(read)
    resting = replace(read, status=SubscriberStatus.DORMANT, revision=2)
    assert subscribers.get("ann") == resting
    assert not subscribers.set_dormant(read), "the profile has changed"
    assert not subscribers.set_dormant(a_subscriber("nobody"))


def test_registration_pause_and_resume_times_are_kept(subscribers: Subscribers) -> None:
    given = replace(a_subscriber(), registered_on=NOW.date(), paused_last=TOMORROW, resumed_at=NOW)
    subscribers.put(given, replacing=None)
    assert subscribers.get("ann") == given


# What a reader chose themself.

EVERY_FIELD = NO_CHOICES.with_choice(
    NOW,
    Choice(
        frequency=Frequency.WEEKLY,
        frequencies=frequencies({"mention": Frequency.IMMEDIATE}),
        clock=(7, None),
        weekly_on=5,
        custom_on=Days(frozenset({2, 4}), every=2, phase=1),
        paused_until=TOMORROW,
        time_zone="Asia/Tokyo",
    ),
).with_choice(NOW + SECOND, Choice(frequency=Frequency.NEVER, clock=(7, 30)))
ONE_FIELD = NO_CHOICES.with_choice(NOW, Choice(weekly_on=5))


@pytest.mark.parametrize("own", [EVERY_FIELD, ONE_FIELD])
def test_service_and_reader_choices_are_read_as_stored(
    subscribers: Subscribers, own: ReaderChoices
) -> None:
    ann = a_subscriber(times=DigestTimes(9, 15, paused_until=TOMORROW), comment=Frequency.NEVER)
    ann = ann.with_choices(ann.service_choices, own)
    assert ann.recorded_service_choices
    assert subscribers.put(ann, replacing=None)
    assert subscribers.get("ann") == ann
    without = replace(a_subscriber(), revision=2)
    assert subscribers.put(without, replacing=ann)
    assert subscribers.get("ann") == without


def test_early_choice_is_stored_without_a_profile(subscribers: Subscribers) -> None:
    assert subscribers.early("ann") is None
    assert subscribers.put_early(EarlyChoices("ann", ONE_FIELD), replacing=None)
    assert subscribers.early("ann") == EarlyChoices("ann", ONE_FIELD)
    assert subscribers.get("ann") is None
    assert subscribers.get_many(["ann"]) == {"ann": None}


def test_early_choice_is_replaced_only_if_unchanged_since_read(subscribers: Subscribers) -> None:
    first, second = EarlyChoices("ann", ONE_FIELD), EarlyChoices("ann", EVERY_FIELD)
    subscribers.put_early(first, replacing=None)
    assert not subscribers.put_early(second, replacing=None)
    assert not subscribers.put_early(second, replacing=second)
    assert subscribers.put_early(second, replacing=first)
    assert subscribers.early("ann") == second


def test_profile_replaces_the_early_choice_that_was_read(
    subscribers: Subscribers,
) -> None:
    early = EarlyChoices("ann", ONE_FIELD)
    subscribers.put_early(early, replacing=None)
    assert not subscribers.put(a_subscriber(), replacing=None)
    assert not subscribers.put(a_subscriber(), replacing=EarlyChoices("ann", EVERY_FIELD))
    ann = a_subscriber()
    ann = ann.with_choices(ann.service_choices, ONE_FIELD)
    assert subscribers.put(ann, replacing=early)
    assert subscribers.get("ann") == ann
    assert subscribers.early("ann") is None
    assert not subscribers.put_early(early, replacing=None)
    assert not subscribers.put_early(early, replacing=early)


def test_erasure_removes_the_early_choice_and_prevents_another(subscribers: Subscribers) -> None:
    subscribers.put_early(EarlyChoices("ann", ONE_FIELD), replacing=None)
    subscribers.erase("ann", NOW)
    assert subscribers.early("ann") is None
    assert not subscribers.put_early(EarlyChoices("ann", ONE_FIELD), replacing=None)
    assert subscribers.get("ann") == Erased("ann", NOW)


def test_activity_and_early_choice_are_independent(
    subscribers: Subscribers,
) -> None:
    subscribers.mark_active("ann", TODAY)
    subscribers.put_early(EarlyChoices("ann", ONE_FIELD), replacing=None)
    subscribers.mark_active("ann", TOMORROW)
    assert subscribers.early("ann") == EarlyChoices("ann", ONE_FIELD)
    subscribers.put(a_subscriber(), replacing=EarlyChoices("ann", ONE_FIELD))
    assert stored(subscribers).active_on == TOMORROW


MUTES = (
    Mute("post#a#b Größe", NOW, title="Größe \u05d0 \"'<&"),
    Mute("post#p2", NOW - SECOND, is_muted=False),
)


def test_mutes_are_stored_with_routes_since_in_one_write(subscribers: Subscribers) -> None:
    ann = a_subscriber()
    assert subscribers.put(ann, replacing=None)
    muted = ann.with_mutes(MUTES, NOW + SECOND)
    assert subscribers.put(muted, replacing=ann)
    assert stored(subscribers) == muted
    assert (muted.routes_since, muted.revision) == (NOW + SECOND, ann.revision + 1)


def test_mute_with_an_earlier_routes_since_than_stored_is_not_written(
    subscribers: Subscribers,
) -> None:
    ann = a_subscriber()
    assert subscribers.put(ann, replacing=None)
    subscribers.mark_rerouted("ann", NOW + SECOND)
    assert not subscribers.put(ann.with_mutes(MUTES, NOW), replacing=ann)
    assert stored(subscribers).mutes == ()
    read = stored(subscribers)
    assert subscribers.put(read.with_mutes(MUTES, NOW), replacing=read)
    assert stored(subscribers).routes_since == NOW + SECOND


def test_second_of_two_mutes_at_once_is_not_written(subscribers: Subscribers) -> None:
    ann = a_subscriber()
    assert subscribers.put(ann, replacing=None)
    assert subscribers.put(ann.with_mutes(MUTES[:1], NOW), replacing=ann)
    assert not subscribers.put(ann.with_mutes(MUTES[1:], NOW), replacing=ann)
    assert stored(subscribers).mutes == MUTES[:1]


def test_early_mutes_are_stored_and_end_with_the_profile(subscribers: Subscribers) -> None:
    early = EarlyChoices("ann", NO_CHOICES, MUTES)
    assert subscribers.put_early(early, replacing=None)
    assert subscribers.early("ann") == early
    assert subscribers.get("ann") is None
    assert not subscribers.put_early(EarlyChoices("ann", NO_CHOICES), replacing=None)
    assert not subscribers.put(a_subscriber(), replacing=None)
    assert subscribers.put(replace(a_subscriber(), mutes=MUTES), replacing=early)
    assert stored(subscribers).mutes == MUTES
    assert subscribers.early("ann") is None


def test_erasure_deletes_mutes(subscribers: Subscribers) -> None:
    ann = replace(a_subscriber(), mutes=MUTES)
    assert subscribers.put(ann, replacing=None)
    assert subscribers.erase("ann", ann.changed_at + SECOND)
    back = replace(a_subscriber(), changed_at=ann.changed_at + 2 * SECOND)
    assert subscribers.put(back, replacing=subscribers.get("ann"))
    assert stored(subscribers).mutes == ()


QUIET = NO_CHOICES.with_choice(NOW + SECOND, Choice(quiet_hours="21:30-06:00"))


def quiet_profile(hours: str) -> Subscriber:
    return replace(a_subscriber(), quiet_hours=hours)


@pytest.mark.parametrize("of_service", ["default", "none", "22:00-07:00"])
@pytest.mark.parametrize("reader", [NO_CHOICES, QUIET])
def test_quiet_hours_of_reader_and_service_are_stored(
    subscribers: Subscribers, of_service: str, reader: ReaderChoices
) -> None:
    profile = quiet_profile(of_service)
    ann = profile.with_choices(profile.service_choices, reader)
    assert ann.quiet_hours == ("21:30-06:00" if reader is QUIET else of_service)
    assert subscribers.put(ann, replacing=None)
    assert stored(subscribers) == ann
    read = stored(subscribers)
    assert subscribers.put(replace(profile, revision=2), replacing=read)
    assert stored(subscribers).quiet_hours == of_service


def test_quiet_hours_of_several_profiles_are_stored(subscribers: Subscribers) -> None:
    hours = ("default", "22:00-07:00", "22:00-07:00", "none")
    service = tuple(
        (NOW + number * SECOND, replace(preferences, quiet_hours=each))
        for number, each in enumerate(hours)
        for _, preferences in a_subscriber().service_choices
    )
    ann = a_subscriber().with_choices(service, QUIET)
    assert ann.quiet_hours == "none", "the service has changed them after the reader"
    assert subscribers.put(ann, replacing=None)
    assert stored(subscribers) == ann


def test_early_quiet_hours_are_stored_and_end_with_the_profile(subscribers: Subscribers) -> None:
    early = EarlyChoices("ann", QUIET)
    assert subscribers.put_early(early, replacing=None)
    assert subscribers.early("ann") == early
    assert not subscribers.put_early(EarlyChoices("ann", NO_CHOICES), replacing=None)
    assert not subscribers.put(a_subscriber(), replacing=None)
    profile = a_subscriber()
    ann = profile.with_choices(profile.service_choices, QUIET)
    assert subscribers.put(ann, replacing=early)
    assert stored(subscribers) == ann
    assert subscribers.early("ann") is None


def test_erasure_deletes_quiet_hours(subscribers: Subscribers) -> None:
    ann = quiet_profile("22:00-07:00")
    assert subscribers.put(ann, replacing=None)
    assert subscribers.erase("ann", ann.changed_at + SECOND)
    back = a_subscriber(changed_at=ann.changed_at + 2 * SECOND)
    assert subscribers.put(back, replacing=subscribers.get("ann"))
    assert stored(subscribers).quiet_hours == "default"
