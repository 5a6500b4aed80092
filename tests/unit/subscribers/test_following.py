"""Effective frequencies, from choices and follows over time."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.subscribers.following import Follow, FollowState, effective_frequency
from gazette.domain.subscribers.frequency import Frequencies, Frequency, frequencies
from gazette.domain.subscribers.history import History
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, a_follow, an_activity, an_event

NEVER, IMMEDIATE, DAILY, WEEKLY, CUSTOM = Frequency
HOUR = timedelta(hours=1)
COMMENT = "comment#c1"
POST = "post#post1"
DIRECT = an_event()
FOLLOWED = an_event(via=(COMMENT, POST))


def chose(*said: tuple[float, Frequency], category: str = "comment") -> History[Frequencies]:
    """What was chosen for a category, by hours from when the event occurred."""
    return tuple((NOW + hours * HOUR, frequencies({category: value})) for hours, value in said)


def followed(*said: tuple[float, bool, Frequency | None], entity: str = COMMENT) -> Follow:
    """A follow as it changed, by hours from when the event occurred."""
    return Follow(
        entity,
        "ann",
        tuple((NOW + hours * HOUR, FollowState(state, often)) for hours, state, often in said),
    )


def frequency_of(
    choices: History[Frequencies] = (),
    *follows: Follow | None,
    defaults: Frequencies = (),
) -> Frequency | None:
    """How often the reader wants to hear of a direct event, or of one through `follows`."""
    event = replace(FOLLOWED, via=FOLLOWED.via[: len(follows)])
    return effective_frequency(event, choices=choices, follows=follows, defaults=defaults)


# Addressed to the reader.


@pytest.mark.parametrize("often", [IMMEDIATE, DAILY, WEEKLY, CUSTOM])
def test_personal_events_follow_their_category(often: Frequency) -> None:
    assert frequency_of(chose((-1, often))) is often
    assert frequency_of(chose((-1, NEVER), category="like")) is DAILY
    assert frequency_of(defaults=frequencies({"comment": often})) is often


@pytest.mark.parametrize("often", [IMMEDIATE, DAILY, WEEKLY, CUSTOM])
def test_latest_choice_also_applies_to_earlier_events(often: Frequency) -> None:
    assert frequency_of(chose((-2, DAILY), (-1, WEEKLY), (1, often))) is often


@pytest.mark.parametrize(
    "choices",
    [
        chose((-1, NEVER)),
        chose((0, NEVER)),
        chose((1, NEVER)),
        chose((-1, DAILY), (1, NEVER)),
        chose((-1, NEVER), (1, DAILY)),
        chose((-1, DAILY), (1, NEVER), (2, IMMEDIATE)),
        chose((-3, NEVER), (-2, DAILY), (-1, NEVER), (2, DAILY)),
    ],
)
def test_category_set_to_never_after_the_event_mutes_the_event(
    choices: History[Frequencies],
) -> None:
    assert frequency_of(choices) is NEVER


@pytest.mark.parametrize(
    "choices",
    [
        chose((-2, NEVER), (-1, DAILY)),
        chose((-2, NEVER), (0, DAILY)),
        chose((-3, NEVER), (-2, WEEKLY), (1, DAILY)),
    ],
)
def test_category_unmuted_before_the_event_does_not_mute(
    choices: History[Frequencies],
) -> None:
    assert frequency_of(choices) is DAILY


def test_default_of_never_mutes_until_the_first_choice() -> None:
    muted = frequencies({"comment": NEVER})
    assert frequency_of(defaults=muted) is NEVER
    assert frequency_of(chose((-1, DAILY)), defaults=muted) is DAILY
    assert frequency_of(chose((-1, DAILY), category="like"), defaults=muted) is NEVER


def test_first_known_choice_applies_to_earlier_events() -> None:
    """Messages come in any order: the profile may be younger than the event."""
    assert frequency_of(chose((1, WEEKLY))) is WEEKLY


def test_mute_replaced_in_the_same_second_does_not_affect_later_events() -> None:
    """Producers date by the second, and readers click twice."""
    assert frequency_of(chose((-1, NEVER), (-1, WEEKLY))) is WEEKLY
    assert frequency_of(chose((1, NEVER), (1, WEEKLY))) is NEVER


# Followed.


def test_active_follow_uses_the_category_frequency() -> None:
    assert frequency_of(chose((-1, WEEKLY)), followed((-1, True, None))) is WEEKLY
    assert frequency_of((), followed((0, True, None))) is DAILY


@pytest.mark.parametrize(
    "follows",
    [
        (None,),
        (None, None),
        (followed((-1, False, None)),),
        (followed((1, True, None)),),
        (followed((-2, True, None), (-1, False, None)),),
        (followed((-2, True, None), (1, False, None)),),
        (followed((-2, True, None), (-1, False, None), (1, True, None)),),
        (followed((-2, True, None), (1, False, None), (2, True, None)),),
        (followed((1, True, None)), followed((1, True, None), entity=POST)),
    ],
    ids=[
        "no follow",
        "none of either",
        "only ever ended",
        "began later",
        "ended before",
        "ended since",
        "ended before and began again",
        "ended since and began again",
        "both began later",
    ],
)
def test_activity_is_ignored_unless_followed_continuously_since(
    follows: Sequence[Follow | None],
) -> None:
    assert frequency_of(chose((-1, IMMEDIATE)), *follows) is None


def test_follow_started_again_before_the_activity_is_active() -> None:
    follow = followed((-3, True, None), (-2, False, None), (-1, True, WEEKLY))
    assert frequency_of((), follow) is WEEKLY


def test_follow_started_again_in_the_same_second_is_active_from_then() -> None:
    assert frequency_of((), followed((-1, False, None), (-1, True, None))) is DAILY
    assert (
        frequency_of((), followed((-2, True, None), (-1, False, None), (-1, True, None))) is DAILY
    )
    assert frequency_of((), followed((-2, True, None), (1, False, None), (1, True, None))) is None


@pytest.mark.parametrize("often", [IMMEDIATE, DAILY, WEEKLY, CUSTOM])
def test_frequency_of_a_follow_overrides_the_category(often: Frequency) -> None:
    assert frequency_of(chose((-1, CUSTOM)), followed((-1, True, often))) is often
    assert frequency_of(chose((-1, NEVER)), followed((-1, True, often))) is often


def test_muted_category_mutes_a_follow_without_a_frequency() -> None:
    assert frequency_of(chose((-1, NEVER)), followed((-1, True, None))) is NEVER


@pytest.mark.parametrize(
    "changes",
    [
        [(-1, True, NEVER)],
        [(-1, True, DAILY), (1, True, NEVER)],
        [(-1, True, NEVER), (1, True, DAILY)],
        [(-1, True, DAILY), (1, True, NEVER), (2, True, None)],
        [(-1, True, NEVER), (1, False, None)],
    ],
)
def test_follow_set_to_never_after_the_event_mutes_the_event(
    changes: list[tuple[float, bool, Frequency | None]],
) -> None:
    assert frequency_of((), followed(*changes)) is NEVER


def test_follow_uses_the_category_after_its_frequency_is_removed() -> None:
    assert frequency_of(chose((-1, WEEKLY)), followed((-1, True, DAILY), (1, True, None))) is WEEKLY


# The entity and its parent.


@pytest.mark.parametrize("often", [NEVER, IMMEDIATE, DAILY, WEEKLY, CUSTOM])
def test_follow_of_the_entity_overrides_the_follow_of_its_parent(often: Frequency) -> None:
    parent = followed((-1, True, IMMEDIATE if often is NEVER else NEVER), entity=POST)
    assert frequency_of((), followed((-1, True, often)), parent) is often


@pytest.mark.parametrize(
    "entity",
    [
        None,
        followed((1, True, WEEKLY)),
        followed((-2, True, WEEKLY), (-1, False, None)),
        followed((-2, True, WEEKLY), (1, False, None)),
    ],
    ids=["none", "began later", "ended before", "ended since"],
)
def test_follow_of_the_parent_applies_if_the_entity_is_not_followed(entity: Follow | None) -> None:
    assert frequency_of((), entity, followed((-1, True, CUSTOM), entity=POST)) is CUSTOM


def test_muted_entity_also_mutes_events_via_its_parent() -> None:
    parent = followed((-1, True, IMMEDIATE), entity=POST)
    assert frequency_of((), followed((-1, True, NEVER)), parent) is NEVER
    assert frequency_of((), followed((-1, True, NEVER), (1, False, None)), parent) is NEVER


histories = st.lists(
    st.tuples(st.integers(-4, 4), st.booleans(), st.sampled_from([None, *Frequency])), max_size=5
).map(lambda said: sorted({hours: (hours, *rest) for hours, *rest in said}.values()))
"""What was said of a follow, by whole hours, each hour once."""


@given(histories, histories, st.sampled_from(Frequency))
@settings(max_examples=150, deadline=None)
def test_unfollowed_or_muted_entities_send_no_events(
    entity: list[tuple[float, bool, Frequency | None]],
    parent: list[tuple[float, bool, Frequency | None]],
    category: Frequency,
) -> None:
    """Held against a plain reading of the rule: hour by hour since it occurred."""
    wanted = frequency_of(chose((-5, category)), followed(*entity), followed(*parent, entity=POST))
    hours = range(5)
    states = [[_state_at(said, hour) for hour in hours] for said in (entity, parent)]
    holding = [all(state and state[0] for state in side) for side in states]
    if not any(holding):
        assert wanted in {None, NEVER}
    elif wanted is not NEVER:
        latest = states[holding.index(True)][-1]
        assert latest
        assert wanted is (latest[1] or category)
    if wanted is not None and wanted is not NEVER:
        side = states[holding.index(True)]
        assert all(state and state[1] is not NEVER for state in side)


def _state_at(
    said: list[tuple[float, bool, Frequency | None]], hour: float
) -> tuple[bool, Frequency | None] | None:
    before = [(state, often) for at, state, often in said if at <= hour]
    return before[-1] if before else None


# Activities.


@pytest.mark.parametrize(
    ("parent", "sides"),
    [(None, (POST,)), ("blog#b1", (POST, "blog#b1")), (POST, (POST,))],
    ids=["none", "another", "itself"],
)
def test_activity_is_for_followers_of_the_entity_and_its_parent(
    parent: str | None, sides: tuple[str, ...]
) -> None:
    assert an_activity(parent=parent).sides == sides


def test_follower_event_has_the_activity_id_and_all_follow_paths() -> None:
    event = an_activity(parent="blog#b1").event_for("ann")
    assert (event.user_id, event.id, event.via) == ("ann", "a1", (POST, "blog#b1"))


@pytest.mark.parametrize(
    ("newer", "older", "amends"),
    [
        (None, None, False),
        (None, NOW, False),
        (NOW, None, True),
        (NOW, NOW, False),
        (NOW, NOW + HOUR, False),
        (NOW + HOUR, NOW, True),
    ],
)
def test_only_a_later_version_amends_an_activity(
    newer: datetime | None, older: datetime | None, amends: bool
) -> None:
    assert an_activity(amended_at=newer).amends(an_activity(amended_at=older)) is amends
    assert an_event(amended_at=newer).amends(an_event(amended_at=older)) is amends


def test_redelivered_activity_with_the_same_content_is_unchanged() -> None:
    activity = an_activity()
    assert replace(activity, walked=frozenset({POST})).has_content_of(activity)
    assert not replace(activity, retracted=True).has_content_of(activity)
    assert not replace(activity, amended_at=NOW).has_content_of(activity)


def test_month_old_follow_is_active() -> None:
    assert frequency_of((), a_follow(entity=COMMENT)) is DAILY
