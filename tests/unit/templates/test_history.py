"""What a rollback without a number goes back to, and how long a version was rolled out."""

from datetime import datetime, timedelta

import pytest
from gazette.domain.templates.changes import (
    Changed,
    InvalidRollout,
    pushed,
    rolled_back,
    rolled_out,
    taken_back,
)
from gazette.domain.templates.history import Rollout, current_before, last_rollout
from gazette.domain.templates.versions import DEPLOYED, NOTHING_PUSHED, Change, InForce, Version
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW

VERSIONS = {number: Version(number, f"{number:064x}") for number in range(1, 10)}


class Stage:
    """What is in force after each change, and the audit."""

    def __init__(self) -> None:
        self.in_force: InForce = NOTHING_PUSHED
        self.audit: list[Change] = []

    def push(self, number: int, percent: int = 100) -> None:
        self._change(pushed(self.in_force, VERSIONS[number], percent, at=self._at, by="ann"))

    def roll_out(self, percent: int) -> None:
        self._change(rolled_out(self.in_force, percent, at=self._at, by="ann"))

    def take_back(self) -> None:
        self._change(taken_back(self.in_force, at=self._at, by="ann"))

    def roll_back(self, number: int | None = None) -> int:
        goal = self.before() if number is None else number
        version = VERSIONS.get(goal, DEPLOYED)
        self._change(rolled_back(self.in_force, version, at=self._at, by="ann"))
        return goal

    def before(self) -> int:
        return current_before(self.in_force.current.number, self.audit)

    def _change(self, changed: Changed) -> None:
        self.in_force, entry = changed
        self.audit.insert(0, entry)

    @property
    def _at(self) -> datetime:
        return NOW + timedelta(minutes=len(self.audit))


def test_before_the_first_push_there_is_nothing_to_go_back_to() -> None:
    with pytest.raises(InvalidRollout, match="there is nothing to roll back"):
        Stage().before()


def test_behind_the_first_push_is_what_was_deployed() -> None:
    stage = Stage()
    stage.push(1)
    assert stage.roll_back() == DEPLOYED.number
    with pytest.raises(InvalidRollout):
        stage.before()


def test_two_rollbacks_in_a_row_go_back_two_versions_and_never_forward() -> None:
    stage = Stage()
    for number in (1, 2, 3):
        stage.push(number)
    assert [stage.roll_back(), stage.roll_back(), stage.roll_back()] == [2, 1, 0]


def test_a_version_that_was_rolled_back_is_not_gone_back_to() -> None:
    """1 was bad: behind 2 is what was in force before 1."""
    stage = Stage()
    stage.push(1)
    stage.roll_back()
    stage.push(2)
    assert stage.before() == DEPLOYED.number


def test_a_candidate_counts_from_when_everybody_gets_it() -> None:
    stage = Stage()
    stage.push(1)
    stage.push(2, percent=5)
    stage.take_back()
    stage.push(3, percent=5)
    assert stage.before() == DEPLOYED.number
    stage.roll_out(100)
    assert stage.before() == 1


def test_a_rollback_to_a_number_that_was_undone_can_be_undone_in_turn() -> None:
    stage = Stage()
    for number in (1, 2):
        stage.push(number)
    stage.roll_back(1)
    stage.roll_back(2)
    assert stage.before() == 1


@given(st.lists(st.one_of(st.sampled_from(sorted(VERSIONS)), st.none()), max_size=12))
def test_rollbacks_lead_to_what_was_deployed_and_end_there(acts: list[int | None]) -> None:
    """A number pushes it, None rolls back; whatever happened, each version is left once."""
    stage = Stage()
    for act in acts:
        if act is not None and VERSIONS[act] != stage.in_force.current:
            stage.push(act)
        elif act is None and stage.in_force.current != DEPLOYED:
            stage.roll_back()
    went = []
    while stage.in_force.current != DEPLOYED:
        went.append(stage.roll_back())
    assert went[-1:] in ([], [DEPLOYED.number])
    assert len(went) <= len(acts)


def test_a_rollout_lasts_from_its_push_until_everybody_or_nobody_has_the_version() -> None:
    stage = Stage()
    stage.push(1)
    stage.push(2, percent=5)
    assert last_rollout(2, stage.audit) == Rollout(1, NOW + timedelta(minutes=1), None)
    stage.roll_out(50)
    stage.roll_out(100)
    rollout = Rollout(1, NOW + timedelta(minutes=1), NOW + timedelta(minutes=3))
    assert last_rollout(2, stage.audit) == rollout
    stage.push(3)
    assert last_rollout(2, stage.audit) == rollout


def test_of_two_rollouts_of_a_version_the_last_one_counts() -> None:
    stage = Stage()
    stage.push(1)
    stage.push(2, percent=5)
    stage.take_back()
    stage.push(3)
    stage.push(2, percent=10)
    stage.take_back()
    last = Rollout(3, NOW + timedelta(minutes=4), NOW + timedelta(minutes=5))
    assert last_rollout(2, stage.audit) == last


def test_what_everybody_got_at_once_was_no_rollout() -> None:
    stage = Stage()
    stage.push(1)
    assert last_rollout(1, stage.audit) is None
    assert last_rollout(7, []) is None
