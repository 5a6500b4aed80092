"""What the port `Activities` promises, held against our fake and the real adapter on moto."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.adapters.dynamodb.tables import ActivityRow
from gazette.domain.model import Retracted
from gazette.domain.ports.stores import Activities
from gazette.domain.stored import readable
from gazette.domain.subscribers.following import Activity

from tests.builders import NOW, RETENTION, SettableClock, an_activity
from tests.contract.conftest import SECOND
from tests.every_field import ACTIVITY

POST = "post#post1"
HOME = "post#c1"
"""The entity of an activity on a comment, whose parent is the post."""

AMENDED = an_activity(excerpt="better", amended_at=NOW)
RETRACTED = replace(an_activity(), retracted=True)


def on_a_comment(activity_id: str = "a1", *, occurred_at: datetime = NOW) -> Activity:
    return an_activity(activity_id, entity_id="c1", parent=POST, occurred_at=occurred_at)


def ids_since(activities: Activities, side: str, instant: datetime) -> list[str]:
    return sorted(activity.id for activity in readable(activities.since(side, instant)))


def test_activity_is_read_as_created(activities: Activities) -> None:
    activity = replace(
        an_activity(
            "a#1\U0001f600",
            entity_id="c1",
            parent=POST,
            excerpt='Größe "x"\n\u202e',
            amended_at=NOW + SECOND,
            occurred_at=NOW + timedelta(microseconds=1),
        ),
        category="reply",
    )
    assert activities.get(HOME, activity.id) is None
    assert activities.create(activity) == (True, activity)
    assert activities.get(HOME, activity.id) == activity


def test_every_field_of_an_activity_and_its_amendment_is_stored(activities: Activities) -> None:
    key, (side,) = (ACTIVITY.entity.key, ACTIVITY.id), ACTIVITY.walked
    whole = replace(ACTIVITY, walked=frozenset())
    less = replace(an_activity(whole.id), entity=whole.entity)
    assert activities.create(less) == (True, less)
    assert activities.replace(less, whole)
    assert activities.get(*key) == whole
    assert activities.mark_walked(whole, side)
    assert activities.get(*key) == activities.get_many([key])[key] == ACTIVITY


def test_longest_names_allowed_by_the_contract_fit_the_sort_key(activities: Activities) -> None:
    """A sort key of DynamoDB ends at 1,024 bytes."""
    long = "\U0001f600" * 128
    activity = an_activity(long, entity_id=long, parent=f"post#{long}p")
    assert activities.create(activity) == (True, activity)
    assert ids_since(activities, f"post#{long}p", NOW) == [long]


def test_amended_activity_is_delivered_to_followers_of_its_previous_parent(
    activities: Activities,
) -> None:
    activities.create(on_a_comment())
    moved = replace(on_a_comment(), parent="post#p2", amended_at=NOW + SECOND)
    amended = moved.in_place_of(on_a_comment())
    assert activities.replace(on_a_comment(), amended)
    assert activities.mark_walked(amended, HOME)
    stored = activities.get(HOME, "a1")
    assert isinstance(stored, Activity)
    assert stored.to_walk == ("post#p2", POST)
    assert ids_since(activities, POST, NOW) == ["a1"]
    assert ids_since(activities, "post#p2", NOW) == ["a1"]


def test_activity_is_created_once(activities: Activities) -> None:
    activities.create(an_activity())
    again = replace(an_activity(), excerpt="again")
    assert activities.create(again) == (False, an_activity())
    assert activities.create(an_activity()) == (False, an_activity()), "also what says the same"
    assert activities.get(POST, "a1") == an_activity()


def test_activity_id_is_unique_per_entity(activities: Activities) -> None:
    for activity in (an_activity(), on_a_comment()):
        assert activities.create(activity) == (True, activity)
    assert activities.get(POST, "a1") == an_activity()
    assert activities.get(HOME, "a1") == on_a_comment()


def test_activity_is_replaced_by_its_amendment(activities: Activities) -> None:
    activities.create(an_activity())
    assert activities.replace(an_activity(), AMENDED)
    assert activities.get(POST, "a1") == AMENDED


@pytest.mark.parametrize("read", [an_activity(amended_at=NOW + SECOND), AMENDED, RETRACTED])
def test_activity_is_replaced_only_if_unchanged_since_read(
    activities: Activities, read: Activity
) -> None:
    activities.create(an_activity())
    assert not activities.replace(read, an_activity(amended_at=NOW + 2 * SECOND))
    assert activities.get(POST, "a1") == an_activity()


def test_missing_or_retracted_activity_is_not_replaced(activities: Activities) -> None:
    assert not activities.replace(an_activity(), AMENDED)
    assert activities.get(POST, "a1") is None
    activities.retract(POST, "a1")
    assert not activities.replace(an_activity(), AMENDED)
    assert activities.get(POST, "a1") == Retracted("a1")


def test_replaced_activity_is_delivered_to_followers_again(activities: Activities) -> None:
    activities.create(an_activity())
    activities.mark_walked(an_activity(), POST)
    assert activities.replace(an_activity(), AMENDED)
    found = activities.get(POST, "a1")
    assert isinstance(found, Activity)
    assert found.walked == frozenset()


def test_each_completed_follower_walk_is_recorded(activities: Activities) -> None:
    activities.create(on_a_comment())
    for side in (HOME, POST, HOME):
        assert activities.mark_walked(on_a_comment(), side)
    assert activities.get(HOME, "a1") == replace(on_a_comment(), walked=frozenset({HOME, POST}))


def test_walk_of_an_outdated_activity_is_not_recorded(activities: Activities) -> None:
    activities.create(AMENDED)
    assert not activities.mark_walked(an_activity(), POST)
    assert activities.get(POST, "a1") == AMENDED
    activities.retract(POST, "a1")
    assert not activities.mark_walked(AMENDED, POST)
    assert activities.get(POST, "a1") == replace(AMENDED, retracted=True)


def test_recording_a_walk_creates_no_activity(activities: Activities) -> None:
    assert not activities.mark_walked(an_activity(), POST)
    assert activities.get(POST, "a1") is None
    activities.retract(POST, "a1")
    assert not activities.mark_walked(an_activity(), POST)
    assert activities.get(POST, "a1") == Retracted("a1")


def test_retracted_activity_is_marked_and_delivered_to_followers_again(
    activities: Activities,
) -> None:
    activities.create(an_activity())
    activities.mark_walked(an_activity(), POST)
    assert activities.retract(POST, "a1") == RETRACTED
    assert activities.get(POST, "a1") == RETRACTED
    assert activities.create(an_activity()) == (False, RETRACTED)


def test_second_retraction_changes_no_data(activities: Activities) -> None:
    activities.create(an_activity())
    activities.retract(POST, "a1")
    activities.mark_walked(RETRACTED, POST)
    walked = replace(RETRACTED, walked=frozenset({POST}))
    assert activities.retract(POST, "a1") == walked
    assert activities.get(POST, "a1") == walked


def test_activity_retracted_before_creation_is_never_created(
    activities: Activities,
) -> None:
    for _ in range(2):
        assert activities.retract(HOME, "a1") == Retracted("a1")
    assert activities.get(HOME, "a1") == Retracted("a1")
    assert activities.create(on_a_comment()) == (False, Retracted("a1"))
    assert activities.get(HOME, "a1") == Retracted("a1")
    assert ids_since(activities, HOME, NOW) == ids_since(activities, POST, NOW) == []


def test_activity_is_found_by_entity_and_by_parent(activities: Activities) -> None:
    activities.create(on_a_comment("below"))
    activities.create(an_activity("on it"))
    activities.create(an_activity("elsewhere", entity_id="post2"))
    assert ids_since(activities, POST, NOW) == ["below", "on it"]
    assert ids_since(activities, HOME, NOW) == ["below"]
    assert ids_since(activities, "post#post2", NOW) == ["elsewhere"]
    assert ids_since(activities, "post#post3", NOW) == []


def test_entity_that_is_its_own_parent_is_stored_once(activities: Activities) -> None:
    own = an_activity(parent=POST)
    activities.create(own)
    assert list(activities.since(POST, NOW)) == [own]


def test_only_activities_since_the_instant_are_found(activities: Activities) -> None:
    for number in range(4):
        instant = NOW + number * SECOND
        activities.create(an_activity(f"on{number}", occurred_at=instant))
        activities.create(on_a_comment(f"below{number}", occurred_at=instant))
    assert ids_since(activities, POST, NOW + 2 * SECOND) == ["below2", "below3", "on2", "on3"]
    just_after = NOW + 2 * SECOND + timedelta(microseconds=1)
    assert ids_since(activities, POST, just_after) == ["below3", "on3"]


def test_activities_with_equal_ids_on_different_entities_are_found(activities: Activities) -> None:
    comments = [an_activity(entity_id=f"c{number}", parent=POST) for number in range(3)]
    for activity in comments:
        activities.create(activity)
    found = list(readable(activities.since(POST, NOW)))
    assert sorted(found, key=lambda activity: activity.entity.key) == comments


def test_activities_are_found_in_their_current_version(activities: Activities) -> None:
    activities.create(on_a_comment())
    moved = replace(on_a_comment(), amended_at=NOW, occurred_at=NOW + 2 * SECOND)
    activities.replace(on_a_comment(), moved)
    assert list(activities.since(POST, NOW + SECOND)) == [moved]
    activities.retract(HOME, "a1")
    assert list(activities.since(POST, NOW)) == [replace(moved, retracted=True)]


def test_replaced_activity_is_found_only_under_its_current_parent(activities: Activities) -> None:
    """Amended: it was said to be below another post."""
    activities.create(on_a_comment())
    moved = replace(on_a_comment(), amended_at=NOW, parent="post#post2")
    activities.replace(on_a_comment(), moved)
    assert list(activities.since("post#post2", NOW)) == [moved]
    assert list(activities.since(POST, NOW)) == []


def test_amended_activity_is_still_found_under_its_former_parent(
    activities: Activities,
) -> None:
    """A follower whom a dying worker has brought it there must not keep what it said."""
    activities.create(on_a_comment())
    moved = replace(on_a_comment(), amended_at=NOW, parent="post#post2", occurred_at=NOW - SECOND)
    moved = moved.in_place_of(on_a_comment())
    activities.replace(on_a_comment(), moved)
    assert list(activities.since(POST, NOW)) == [moved]
    assert list(activities.since("post#post2", NOW)) == []
    assert list(activities.since("post#post2", NOW - SECOND)) == [moved]


@pytest.mark.parametrize("late", [-10 * SECOND, 10 * SECOND])
def test_redelivered_activity_keeps_its_original_time(
    activities: Activities, late: timedelta
) -> None:
    activities.create(on_a_comment())
    again = on_a_comment(occurred_at=NOW + late)
    assert activities.create(again) == (False, on_a_comment())
    assert ids_since(activities, POST, NOW) == ["a1"]
    assert ids_since(activities, POST, NOW + SECOND) == []


def test_activity_instants_are_read_in_utc(activities: Activities) -> None:
    berlin = datetime.fromisoformat("2026-11-22T08:00:00.000001+01:00")
    activities.create(an_activity(occurred_at=berlin, amended_at=berlin))
    utc = berlin.astimezone(UTC)
    assert activities.get(POST, "a1") == an_activity(occurred_at=utc, amended_at=utc)
    assert ids_since(activities, POST, berlin) == ["a1"]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_activity_and_retraction_trace_expire(activities: Activities, clock: SettableClock) -> None:
    """The trace of a retraction is kept as long from then on."""
    activities.create(on_a_comment())
    clock.now += SECOND
    activities.retract(HOME, "a1")
    activities.retract(HOME, "early")
    expiry = {
        (row.entity, row.home or row.activity_id): row.expires_at for row in ActivityRow.scan()
    }
    assert expiry == {
        (POST, HOME): NOW + RETENTION,
        (HOME, "a1"): clock.now + RETENTION,
        (HOME, "early"): clock.now + RETENTION,
    }


def test_many_activities_are_read_by_key(activities: Activities) -> None:
    for number in range(120):
        activities.create(an_activity(f"a{number}"))
    activities.retract("post#post1", "early")
    keys = [("post#post1", f"a{number}") for number in range(120)]
    found = activities.get_many([*keys, ("post#post1", "early"), ("post#other", "a1")])
    assert found == {
        **{key: an_activity(key[1]) for key in keys},
        ("post#post1", "early"): Retracted("early"),
    }
    assert len(list(activities.since("post#post1", NOW))) == 120
