"""The rule for a consent: only unsubscriptions before it end, for whichever reason others stay."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from gazette.domain.identity import address_hash
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.consent import Consent, Refusal, refusal_of
from gazette.domain.subscribers.subscriber import Erased, Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause, Suppression

from tests.builders import NOW, a_subscriber

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
ANN = address_hash("ann@example.com")
NEWER_STATUS = as_stored(SubscriberStatus, "snoozed")
NEWER_CAUSE = as_stored(Cause, "deceased")


def consent(stated_at: datetime = NOW, **changed: Any) -> Consent:
    given = {"user_id": "ann", "email": "Ann@example.com", "arrived_at": NOW + 2 * HOUR}
    return Consent(**{**given, "stated_at": stated_at, **changed})


def unsubscribed(at: datetime | None = NOW - HOUR, again: datetime | None = None) -> Subscriber:
    ann = a_subscriber().left(at)
    return ann.left(again) if again else ann


def suppressed(
    cause: Cause = Cause.UNSUBSCRIBED,
    since: datetime = NOW - HOUR,
    last: datetime | None = None,
    *readers: str,
) -> Suppression:
    return Suppression(ANN, cause, since, last, frozenset(readers))


def test_consent_lifts_an_older_unsubscription() -> None:
    assert refusal_of(consent(), unsubscribed(), suppressed()) is None
    assert refusal_of(consent(), unsubscribed(), None) is None, "after a crash"


def test_consent_of_an_active_reader_is_accepted() -> None:
    for status in (SubscriberStatus.ACTIVE, SubscriberStatus.DORMANT):
        assert refusal_of(consent(), replace(a_subscriber(), status=status), None) is None


@pytest.mark.parametrize(
    ("cause", "refusal"),
    [
        (Cause.BOUNCED, Refusal.BOUNCED),
        (Cause.COMPLAINED, Refusal.COMPLAINED),
        (Cause.MANUAL, Refusal.MANUAL),
        (NEWER_CAUSE, Refusal.UNKNOWN_STATUS),
    ],
)
@pytest.mark.parametrize("status", SubscriberStatus)
def test_consent_lifts_no_stronger_cause(
    cause: Cause, refusal: Refusal, status: SubscriberStatus
) -> None:
    ann = replace(unsubscribed(), status=status)
    assert refusal_of(consent(), ann, suppressed(cause)) is refusal
    assert refusal_of(consent(), ann, suppressed(cause, NOW, None, "ann")) is refusal


@pytest.mark.parametrize("late", [timedelta(0), timedelta(microseconds=1), HOUR])
@pytest.mark.parametrize("where", ["reader", "repeated", "address", "repeated by the address"])
def test_unsubscription_at_the_consent_or_later_remains(late: timedelta, where: str) -> None:
    ann, address, at = unsubscribed(), suppressed(), NOW + late
    match where:
        case "reader":
            ann = unsubscribed(at)
        case "repeated":
            ann = unsubscribed(again=at)
        case "address":
            address = suppressed(since=at)
        case _:
            address = suppressed(last=at)
    assert refusal_of(consent(), ann, address) is Refusal.NEWER_UNSUBSCRIPTION
    assert refusal_of(consent(at + SECOND), ann, address) is None


def test_status_of_a_suppressed_reader_ends_with_the_unsubscription_of_the_address() -> None:
    ann = replace(a_subscriber(), status=SubscriberStatus.SUPPRESSED)
    assert refusal_of(consent(), ann, suppressed()) is None
    late = suppressed(since=NOW)
    assert refusal_of(consent(), ann, late) is Refusal.NEWER_UNSUBSCRIPTION


def test_unsubscription_without_a_time_is_as_old_as_that_of_its_address() -> None:
    ann = unsubscribed(None)
    assert refusal_of(consent(), ann, suppressed()) is None
    for address in (None, suppressed(since=NOW)):
        assert refusal_of(consent(), ann, address) is Refusal.NEWER_UNSUBSCRIPTION


def test_unsubscription_of_another_reader_of_the_address_remains() -> None:
    for readers in (("bo",), ("ann", "bo")):
        address = suppressed(Cause.UNSUBSCRIBED, NOW - HOUR, None, *readers)
        assert refusal_of(consent(), unsubscribed(), address) is Refusal.SHARED_ADDRESS


def test_consent_is_for_the_stored_address() -> None:
    assert refusal_of(consent(email="ann@example.com"), unsubscribed(), None) is None
    other = consent(email="bo@example.com")
    for ann, address in product((unsubscribed(), a_subscriber()), (None, suppressed())):
        assert refusal_of(other, ann, address) is Refusal.OTHER_ADDRESS


def test_unknown_and_erased_readers_are_not_returned() -> None:
    assert refusal_of(consent(), None, None) is Refusal.UNKNOWN_READER
    assert refusal_of(consent(), Erased("ann", NOW - HOUR), None) is Refusal.ERASED


def test_consent_before_an_erasure_does_not_count_after_it() -> None:
    again = replace(unsubscribed(), erased_at=NOW)
    assert refusal_of(consent(), again, None) is Refusal.ERASED
    assert refusal_of(consent(NOW + SECOND), again, None) is None


def test_reader_with_a_status_of_a_newer_version_is_not_returned() -> None:
    ann = replace(a_subscriber(), status=NEWER_STATUS)
    assert refusal_of(consent(), ann, None) is Refusal.UNKNOWN_STATUS


def test_consent_more_than_an_hour_ahead_is_refused() -> None:
    for ahead, refusal in ((HOUR, None), (HOUR + SECOND, Refusal.AHEAD)):
        assert refusal_of(consent(NOW + ahead, arrived_at=NOW), a_subscriber(), None) is refusal


def test_consent_counts_from_its_arrival_at_the_latest() -> None:
    ahead = consent(NOW + HOUR, arrived_at=NOW)
    assert ahead.counts_from(unsubscribed()) == NOW
    assert refusal_of(ahead, unsubscribed(NOW - SECOND), None) is None
    assert refusal_of(ahead, unsubscribed(NOW), None) is Refusal.NEWER_UNSUBSCRIPTION


def test_repeated_consent_counts_from_its_first_arrival() -> None:
    """A service whose clock is ahead repeats its request after the reader unsubscribed again."""
    first = consent(NOW + HOUR, arrived_at=NOW)
    ann = first.recorded_in(unsubscribed().back())
    left = ann.left(NOW + SECOND)
    for stated in (first.stated_at, NOW, NOW - HOUR):
        again = consent(stated, arrived_at=NOW + HOUR)
        assert refusal_of(again, left, None) is Refusal.NEWER_UNSUBSCRIPTION
        assert again.recorded_in(left) == left
    assert refusal_of(consent(first.stated_at + SECOND, arrived_at=NOW + HOUR), left, None) is None


def test_each_repetition_of_an_unsubscription_is_later_than_the_one_before() -> None:
    """Also by a clock that is behind, so that a return in between fails."""
    ann = unsubscribed(NOW)
    times = [ann.last_left_at]
    for at in (NOW, NOW - HOUR, NOW + HOUR, NOW):
        ann = ann.left(at)
        times.append(ann.last_left_at)
    assert ann.left_at == NOW
    assert times == sorted({at for at in times if at})
    assert times[3] == NOW + HOUR


def test_return_forgets_the_unsubscription_but_not_the_consent() -> None:
    ann = consent().recorded_in(unsubscribed(again=NOW).back())
    assert (ann.left_at, ann.left_again_at, ann.last_left_at) == (None, None, None)
    assert (ann.consented_at, ann.returned_at) == (NOW, NOW + 2 * HOUR)
    assert ann.left(NOW).consented_at == NOW
