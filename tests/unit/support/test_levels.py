"""One fact is equally bad wherever a command tells it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.domain.console.levels import Level
from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import EVER, PaceReading
from gazette.domain.delivery.standing import Standing
from gazette.domain.delivery.streams import Streams
from gazette.domain.templates.versions import NOTHING_PUSHED

from gazette_cli.doctor.data_checks import check_dead_letters
from gazette_cli.doctor.findings import Finding
from gazette_cli.doctor.stage_checks import check_alarms
from gazette_cli.doctor.work_checks import check_breakers
from gazette_cli.overview.alarms import Alarm
from gazette_cli.overview.lines import Seen, lines
from gazette_support.steps.overview import Overview

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
GOES = PaceReading(
    rate=20, full_rate=50, taken=7, cap=None, quota=None, free_since=EVER, breaker=None
)
CALM = Seen(
    stage="prod",
    tables=Overview(
        at=NOW,
        upcoming=[],
        batches=[],
        standing=Standing(age=timedelta(0), held_by_day=0),
        streams=Streams(digest=GOES, immediate=GOES),
        category_holds=[],
        templates=NOTHING_PUSHED,
        pushed=[],
    ),
    queues={"ingest": 0},
    dead={"generate-dead": 0},
    quarantine=0,
    alarms=[],
    layers=[],
)


def stopped(*, by_hand: bool) -> Streams[PaceReading]:
    """Only digests are."""
    step = timedelta(minutes=5)
    breaker = OpenBreaker(why="no", since=NOW, until=NOW + step, step=step, by_hand=by_hand)
    return Streams(digest=replace(GOES, breaker=breaker), immediate=GOES)


def waiting(name: str) -> Finding:
    return check_dead_letters(name, {"ApproximateNumberOfMessages": "1"}, stage="prod")


def fired() -> Finding:
    (found,) = check_alarms({"MetricAlarms": [{"AlarmName": "late", "AlarmDescription": "…"}]})
    return found


@pytest.mark.parametrize(
    ("finding", "seen", "level"),
    [
        (waiting("generate-dead"), replace(CALM, dead={"generate-dead": 1}), Level.PROBLEM),
        (waiting("quarantine"), replace(CALM, quarantine=1), Level.PROBLEM),
        (fired(), replace(CALM, alarms=[Alarm("late", NOW, "page")]), Level.PROBLEM),
        *(
            (
                check_breakers(stopped(by_hand=by_hand), stage="prod")[0],
                replace(CALM, tables=replace(CALM.tables, streams=stopped(by_hand=by_hand))),
                level,
            )
            for by_hand, level in ((True, Level.WARNING), (False, Level.PROBLEM))
        ),
    ],
)
def test_doctor_and_overview_report_the_same_levels(
    finding: Finding, seen: Seen, level: Level
) -> None:
    assert {line.level for line in lines(CALM)} == {Level.OK}
    assert [line.level for line in lines(seen) if line.level is not Level.OK] == [level]
    assert finding.level is level


def test_levels_are_sorted_worst_first() -> None:
    best_first = [Level.OK, Level.WARNING, Level.UNSEEN, Level.PROBLEM]
    assert sorted(best_first, key=lambda each: each.rank) == best_first[::-1]


def test_runs_held_by_the_daily_quota_are_not_reported_as_stuck() -> None:
    held = replace(CALM.tables, standing=Standing(age=timedelta(0), held_by_day=1200))
    found = {line.area: line for line in lines(replace(CALM, tables=held))}
    assert found["oldest run"].level is Level.OK
    assert found["daily limit"].level is Level.WARNING
    assert found["daily limit"].text.startswith("1,200 emails are waiting for the next day")
    assert found["daily limit"].command == "gazette sending status"
    assert "daily limit" not in {line.area for line in lines(CALM)}


@pytest.mark.parametrize(
    ("by_hand", "level", "how"),
    [(True, Level.WARNING, "manually"), (False, Level.PROBLEM, "automatically")],
)
def test_stopped_content_source_is_reported(by_hand: bool, level: Level, how: str) -> None:
    step = timedelta(minutes=1)
    breaker = OpenBreaker(why="503", since=NOW, until=NOW + step, step=step, by_hand=by_hand)
    stopped_source = replace(CALM.tables, source=breaker)
    (line,) = (
        each
        for each in lines(replace(CALM, tables=stopped_source))
        if each.text.startswith("recommendations")
    )
    assert (line.level, line.command) == (level, "gazette sources status")
    assert how in line.text
    assert "503" in line.text
