"""Rows of readers' choices that the version before wrote, and those that it leaves behind."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.domain.subscribers.choices import NO_CHOICES, Choice
from gazette.domain.subscribers.frequency import DEFAULT, Frequency, frequencies
from gazette.domain.subscribers.subscriber import (
    EarlyChoices,
    Subscriber,
    SubscriberStatus,
)
from moto import mock_aws

from tests.builders import NOW, a_subscriber
from tests.credentials import set_credentials
from tests.moto_tables import create_tables

SECOND = timedelta(seconds=1)
THEN = datetime.fromisoformat("2026-11-20T07:03Z")
MAPS = (
    '{"frequencies":[["2026-11-20T07:03:00+00:00",{"comment":"never"}],'
    '["2026-11-20T07:03:00+00:00",{"comment":"weekly"}],'
    '["2026-11-20T07:04:00+00:00",{"comment":"weekly"}],'
    '["2026-11-21T07:03:00+00:00",{"like":"never"}]]}'
)
"""As the version before wrote it: with two maps of one instant, and a repetition."""

MUTED = NO_CHOICES.with_choice(NOW, Choice(frequencies=frequencies({"like": Frequency.NEVER})))


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    set_credentials(monkeypatch)
    with mock_aws():
        create_tables()
        yield


def subscribers() -> DynamoSubscribers:
    return DynamoSubscribers("subscribers")


def row() -> dict[str, Any]:
    return dict(boto3.resource("dynamodb").Table("subscribers").scan()["Items"][0])


def put_row(**attributes: str) -> None:
    boto3.resource("dynamodb").Table("subscribers").put_item(Item={"user_id": "ann", **attributes})


def overwrite(**attributes: str) -> None:
    """As the version before does, which knows nothing of `reader_categories`."""
    put_row(**{name: value for name, value in row().items() if name != "user_id"} | attributes)


@pytest.mark.parametrize("left", [{}, {"reader_categories": '{"maps":"0","chosen":[]}'}])
def test_early_choices_of_the_previous_version_are_replaced_and_migrated(
    left: dict[str, str],
) -> None:
    """Their text is compared as it is, because this version would write it otherwise."""
    put_row(reader_choices=MAPS, **left)
    early = subscribers().early("ann")
    assert early
    assert dict(early.reader_choices.frequencies)["comment"] == (
        (THEN, Frequency.WEEKLY),
        (THEN + timedelta(days=1), DEFAULT),
    )
    longer = EarlyChoices("ann", early.reader_choices.with_choice(NOW, Choice(weekly_on=5)))
    assert subscribers().put_early(longer, replacing=early)
    assert not subscribers().put_early(longer, replacing=early), "it has changed since"
    assert subscribers().early("ann") == longer
    put_row(reader_choices=MAPS, **left)
    ann = a_subscriber()
    again = subscribers().early("ann")
    assert again
    ann = ann.with_choices(ann.service_choices, again.reader_choices)
    assert subscribers().put(ann, replacing=again)
    assert subscribers().get("ann") == ann


@pytest.mark.parametrize("name", ["reader_choices", "reader_categories"])
def test_early_choices_are_replaced_only_if_both_attributes_are_unchanged(name: str) -> None:
    early = EarlyChoices("ann", MUTED)
    subscribers().put_early(early, replacing=None)
    for read in (early, subscribers().early("ann")):
        assert read
        before = row()[name]
        overwrite(**{name: before.replace("like", "comment")})
        assert not subscribers().put_early(early, replacing=read)
        overwrite(**{name: before})
    assert subscribers().put_early(early, replacing=early)


def test_current_and_previous_version_can_alternate_on_a_row() -> None:
    """This one, the one before after a rollback, and this one again."""
    ann = a_subscriber(changed_at=NOW, comment=Frequency.NEVER)
    ann = ann.with_choices(ann.service_choices, MUTED)
    subscribers().put(ann, replacing=None)
    assert subscribers().get("ann") == ann
    before = row()
    assert '{"comment":"never","like":"never"}' in before["reader_choices"]
    overwrite(reader_choices='{"frequencies":[["2026-11-22T07:04:00+00:00",{"comment":"weekly"}]]}')
    assert row()["reader_categories"] == before["reader_categories"]
    found = subscribers().get("ann")
    assert isinstance(found, Subscriber)
    assert dict(found.reader_choices.frequencies) == {
        "comment": ((NOW + 60 * SECOND, Frequency.WEEKLY),)
    }
    again = found.reader_choices.with_choice(
        NOW + 120 * SECOND, Choice(frequencies=frequencies({"like": Frequency.NEVER}))
    )
    now = found.with_choices(found.service_choices, again)
    assert subscribers().put(now, replacing=found)
    assert subscribers().get("ann") == now


def test_row_without_choices_has_no_choice_attributes() -> None:
    ann = a_subscriber()
    subscribers().put(ann.with_choices(ann.service_choices, MUTED), replacing=None)
    assert {"reader_choices", "reader_categories"} <= row().keys()
    stored = subscribers().get("ann")
    subscribers().put(replace(ann, revision=2), replacing=stored)
    assert not {"reader_choices", "reader_categories"} & row().keys()


def test_unsubscribe_time_is_stored_and_removed() -> None:
    ann = replace(a_subscriber().left(NOW), revision=2)
    subscribers().put(ann, replacing=None)
    assert subscribers().get("ann") == ann
    back = replace(ann, left_at=None, revision=3)
    assert subscribers().put(back, replacing=ann)
    assert subscribers().get("ann") == back
    assert "left_at" not in row()


def test_latest_unsubscription_and_consent_are_stored_and_the_former_is_removed() -> None:
    ann = replace(
        a_subscriber().left(NOW).left(NOW + SECOND),
        consented_at=THEN,
        returned_at=NOW - SECOND,
        revision=2,
    )
    subscribers().put(ann, replacing=None)
    assert subscribers().get("ann") == ann
    back = ann.back()
    assert subscribers().put(back, replacing=ann)
    assert subscribers().get("ann") == back
    assert back.consented_at == THEN
    assert not {"left_at", "left_again_at"} & row().keys()


def test_return_by_the_previous_version_leaves_an_outdated_repetition() -> None:
    """It removes only `left_at`, and stores the next unsubscription in it."""
    ann = replace(a_subscriber().left(NOW).left(NOW + SECOND), revision=2)
    subscribers().put(ann, replacing=None)
    overwrite(left_at="2026-11-23T07:03:00.000000Z")
    found = subscribers().get("ann")
    assert isinstance(found, Subscriber)
    assert found.left_again_at == NOW + SECOND
    assert found.last_left_at == found.left_at
    assert found.back().last_left_at is None
    active = replace(found, status=SubscriberStatus.ACTIVE, left_at=None)
    assert active.left(THEN).last_left_at == THEN


def test_erasure_removes_both_choice_attributes() -> None:
    subscribers().put_early(EarlyChoices("ann", MUTED), replacing=None)
    subscribers().erase("ann", NOW)
    assert row().keys() == {"user_id", "erased_at"}


def test_version_before_keeps_quiet_hours_and_its_profiles_do_not_change_them() -> None:
    """It does not read `quiet_hours`, and updates the other attributes."""
    profile = replace(a_subscriber(), quiet_hours="22:00-07:00")
    choices = NO_CHOICES.with_choice(NOW + SECOND, Choice(weekly_on=3, quiet_hours="none"))
    subscribers().put(profile.with_choices(profile.service_choices, choices), replacing=None)
    written = row()
    assert "quiet" not in written["reader_choices"] + written["service_choices"]
    later = json.loads(written["service_choices"])
    later.append([(NOW + 2 * SECOND).isoformat(), *later[-1][1:-1], "Europe/Rome"])
    overwrite(service_choices=json.dumps(later), time_zone="Europe/Rome")
    ann = subscribers().get("ann")
    assert isinstance(ann, Subscriber)
    assert ann.time_zone == "Europe/Rome"
    assert ann.quiet_hours == "none"
    assert [each.quiet_hours for _, each in ann.service_choices] == ["22:00-07:00"] * 2
