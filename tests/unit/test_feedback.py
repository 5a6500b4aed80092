"""Feedback: any report of the provider settles its run, in any order, any number of times."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.feedback import MailEvent, MailReport
from gazette.domain.run import Reason, Run, Status

from tests.builders import KEY, NOW, a_run, a_window
from tests.world import World

REPORT = MailReport(MailEvent.DELIVERED, KEY, 1, "m1", NOW)


def having(run: Run) -> World:
    world = World()
    world.runs.create(run)
    return world


@pytest.mark.parametrize("kind", sorted(set(MailEvent) - {MailEvent.RENDERING_FAILED}))
@pytest.mark.parametrize("status", sorted(set(Status) - {Status.SENT}))
def test_trace_d_every_report_proves_acceptance_whatever_the_status(
    kind: MailEvent, status: Status
) -> None:
    """Of retrying, failed and cancelled runs too: else a second email would follow."""
    world = having(replace(a_run(), status=status, attempt=1, window=a_window()))
    run = world.report(replace(REPORT, kind=kind))
    assert run
    assert (run.status, run.reason, run.message_id) == (Status.SENT, Reason.EVIDENCE, "m1")
    assert world.runs.rows[KEY] == run


def test_a_report_of_what_was_sent_changes_nothing() -> None:
    sent = replace(a_run(), status=Status.SENT, reason=Reason.ACCEPTED, message_id="m0")
    world = having(sent)
    with world.calls() as called:
        assert world.report(REPORT) == sent
    assert called == ["runs.get", "evidence_log.note"]


def test_a_template_of_the_providers_that_failed_proves_nothing() -> None:
    world = having(replace(a_run(), status=Status.UNKNOWN, attempt=1))
    run = world.report(replace(REPORT, kind=MailEvent.RENDERING_FAILED))
    assert run
    assert run.status is Status.UNKNOWN


@pytest.mark.parametrize("report", [REPORT, replace(REPORT, run=None)])
def test_a_report_that_names_no_run_still_proves_that_reports_come_in(report: MailReport) -> None:
    """Of the canary, or of a run that has expired."""
    world = World()
    assert world.report(report) is None
    assert world.evidence_log.latest() == NOW


def test_that_a_report_came_is_noted_only_once_its_run_is_settled() -> None:
    """Else a crash between the two would let the sweep send what it says was taken."""
    world = having(replace(a_run(), status=Status.UNKNOWN, attempt=1))
    with world.calls() as called:
        world.report(REPORT)
    assert called == ["runs.get", "runs.swap", "evidence_log.note"]


def test_an_older_report_takes_nothing_back() -> None:
    world = World()
    world.report(REPORT)
    world.report(replace(REPORT, sent_at=NOW - timedelta(hours=1)))
    assert world.evidence_log.latest() == NOW
