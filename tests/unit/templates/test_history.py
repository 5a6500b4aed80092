"""What a rollback without a number goes back to, and how long a version was rolled out."""

from datetime import datetime, timedelta

import pytest
from gazette.domain.templates.versions import DEPLOYED, NOTHING_PUSHED, Change, InForce, Version
from hypothesis import given
from hypothesis import strategies as st

from gazette_support.domain.templates.changes import (
    Changed,
    InvalidRollout,
    pushed,
    rolled_back,
    rolled_out,
    taken_back,
)
from gazette_support.domain.templates.history import Rollout, current_before, last_rollout
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


def test_rollback_before_the_first_push_fails() -> None:
    with pytest.raises(InvalidRollout, match="there is nothing to roll back"):
        Stage().before()


def test_rollback_of_the_first_push_restores_the_deployed_templates() -> None:
    stage = Stage()
    stage.push(1)
    assert stage.roll_back() == DEPLOYED.number
    with pytest.raises(InvalidRollout):
        stage.before()


def test_consecutive_rollbacks_go_further_back_and_never_forward() -> None:
    stage = Stage()
    for number in (1, 2, 3):
        stage.push(number)
    assert [stage.roll_back(), stage.roll_back(), stage.roll_back()] == [2, 1, 0]


def test_rollback_skips_a_version_that_was_rolled_back() -> None:
    """1 was bad: behind 2 is what was in force before 1."""
    stage = Stage()
    stage.push(1)
    stage.roll_back()
    stage.push(2)
    assert stage.before() == DEPLOYED.number


def test_candidate_counts_as_a_version_from_its_full_rollout() -> None:
    stage = Stage()
    stage.push(1)
    stage.push(2, percent=5)
    stage.take_back()
    stage.push(3, percent=5)
    assert stage.before() == DEPLOYED.number
    stage.roll_out(100)
    assert stage.before() == 1


def test_rollback_to_an_undone_version_can_be_undone() -> None:
    stage = Stage()
    for number in (1, 2):
        stage.push(number)
    stage.roll_back(1)
    stage.roll_back(2)
    assert stage.before() == 1


@given(st.lists(st.one_of(st.sampled_from(sorted(VERSIONS)), st.none()), max_size=12))
def test_repeated_rollbacks_end_at_the_deployed_templates(acts: list[int | None]) -> None:
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


def test_rollout_lasts_from_push_to_full_rollout_or_withdrawal() -> None:
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


def test_last_rollout_of_a_version_counts() -> None:
    stage = Stage()
    stage.push(1)
    stage.push(2, percent=5)
    stage.take_back()
    stage.push(3)
    stage.push(2, percent=10)
    stage.take_back()
    last = Rollout(3, NOW + timedelta(minutes=4), NOW + timedelta(minutes=5))
    assert last_rollout(2, stage.audit) == last


def test_push_to_everyone_is_not_a_rollout() -> None:
    stage = Stage()
    stage.push(1)
    assert last_rollout(1, stage.audit) is None
    assert last_rollout(7, []) is None
