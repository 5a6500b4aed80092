"""Which slots a report reads: of a batch, a week, an experiment or a rollout."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.domain.feedback.experiment import ExperimentPeriod, Variant
from gazette.domain.scheduling.calendar import SLOT
from gazette.domain.templates.versions import Act, Change
from hypothesis import given
from hypothesis import strategies as st

from gazette_cli.shared.console import NotPossible
from gazette_cli.statistics.periods import of_batch, of_experiment, of_rollout, of_week
from gazette_support.domain.experiment_readers import Compared
from tests.builders import NOW
from tests.unit.support.test_statistics import an_email

SUNDAY = NOW
LONG_AFTER = datetime(2030, 1, 1, tzinfo=UTC)


def test_any_instant_of_a_batch_selects_its_slot() -> None:
    slot = datetime(2026, 11, 22, 6, 10, tzinfo=UTC)
    assert of_batch("2026-11-22T06:10Z").slots == [slot]
    assert of_batch("2026-11-22T07:19:59+01:00").slots == [slot]


def test_week_is_monday_to_sunday_in_utc() -> None:
    slots = of_week("2026-W47", now=LONG_AFTER).slots
    assert len(slots) == 7 * 24 * 6
    assert slots[0] == datetime(2026, 11, 16, tzinfo=UTC)
    assert slots[-1] == datetime(2026, 11, 22, 23, 50, tzinfo=UTC)


@given(minutes=st.integers(0, 9 * 366 * 24 * 60))
def test_every_instant_is_in_its_named_week(minutes: int) -> None:
    at = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    year, week, _ = at.isocalendar()
    span = of_week(f"{year}-W{week:02d}", now=LONG_AFTER)
    assert span.since <= at < span.until


def test_default_week_is_the_current_week_up_to_now() -> None:
    span = of_week(None, now=SUNDAY)
    assert span.title == "Emails due in the week 2026-W47 so far (UTC)"
    assert span.slots[-1] <= SUNDAY < span.slots[-1] + SLOT


@pytest.mark.parametrize(
    "week", ["", "47", "2026-47", "2026-W00", "2026-W54", "0000-W01", "2026-W4７"]
)
def test_invalid_week_is_rejected(week: str) -> None:
    with pytest.raises(NotPossible, match="is not an ISO 8601 week"):
        of_week(week, now=NOW)


def test_year_may_have_fifty_three_weeks() -> None:
    assert len(of_week("2026-W53", now=LONG_AFTER).slots) == 1008
    with pytest.raises(NotPossible):
        of_week("2027-W53", now=LONG_AFTER)


def test_running_experiment_statistics_start_a_day_early_and_end_now() -> None:
    began = NOW - timedelta(days=3)
    span = of_experiment("new", {"new": ExperimentPeriod(began, None)}, now=NOW)
    assert span.title == "Experiment new, since 2026-11-19 07:03 and still running (UTC)"
    assert span.arm_of
    emails = [an_email(variant=Variant(2, "new")), an_email(variant=Variant(2, "old"))]
    assert [span.arm_of(each) for each in emails] == [2, None]
    assert span.slots[0] <= began - timedelta(days=1) < span.slots[0] + SLOT
    assert span.slots[-1] <= NOW < span.slots[-1] + SLOT


def test_stopped_experiment_statistics_extend_slightly_past_its_end() -> None:
    """Workers look once a minute: until then some go by what was before."""
    ended = NOW - timedelta(days=1)
    span = of_experiment("new", {"new": ExperimentPeriod(NOW - timedelta(days=3), ended)}, now=NOW)
    assert span.slots[-1] <= ended + SLOT < span.slots[-1] + SLOT
    assert "until 2026-11-21 07:03" in span.title


def test_unknown_experiment_lists_known_experiments() -> None:
    periods = {"old": ExperimentPeriod(NOW, NOW), "new": ExperimentPeriod(NOW, None)}
    with pytest.raises(NotPossible, match=r"'newer' never ran\. Past experiments: new, old"):
        of_experiment("newer", periods, now=NOW)


def rolled_out(*, ended: bool) -> list[Change]:
    """Version 7 beside 6 since three days, the latest change first."""
    began = NOW - timedelta(days=3)
    pushed = Change(2, Act.PUSHED, began, "ann", current=6, candidate=7, percent=5)
    end = Change(3, Act.TAKEN_BACK, NOW - timedelta(days=1), "ann", current=6)
    return [end, pushed] if ended else [pushed]


def test_rollout_is_compared_with_the_remaining_readers() -> None:
    span = of_rollout(7, rolled_out(ended=False), now=NOW)
    assert (
        span.title
        == "Version 7 compared with version 6, since 2026-11-19 07:03 and still running (UTC)"
    )
    assert (span.compared, span.base) == (Compared.VERSION, 6)
    assert span.slots[-1] <= NOW < span.slots[-1] + 2 * SLOT
    assert span.arm_of
    emails = [replace(an_email(), templates=number) for number in (7, 6, 5, 0)]
    assert [span.arm_of(each) for each in emails] == [7, 6, None, None]


def test_finished_rollout_statistics_end_with_the_rollout() -> None:
    span = of_rollout(7, rolled_out(ended=True), now=NOW)
    assert "until 2026-11-21 07:03 (UTC)" in span.title
    assert NOW - timedelta(days=1) < span.until < NOW - timedelta(hours=23)


def test_version_released_to_everyone_has_no_comparison() -> None:
    with pytest.raises(
        NotPossible, match="--rollout 8: this version was never rolled out to only some"
    ):
        of_rollout(8, rolled_out(ended=True), now=NOW)
