"""Run the steps of an acceptance in order, and record a row for each."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType

from gazette.domain.dead_letters import Interrupted
from gazette.domain.errors import NotYet, Unavailable, UnreadableRow

from gazette_support.domain.acceptance.rows import (
    REQUIRES,
    Failed,
    NotShown,
    Result,
    Row,
    Step,
)
from gazette_support.steps.acceptance.context import AcceptanceContext, Work
from gazette_support.steps.acceptance.digest import show_digest, show_immediate
from gazette_support.steps.acceptance.erase import erase
from gazette_support.steps.acceptance.opt_outs import (
    show_bounce,
    show_complaint,
    show_one_click,
    show_opt_outs,
)
from gazette_support.steps.acceptance.publishing import (
    show_events,
    show_profiles,
    show_quarantine,
)
from gazette_support.steps.acceptance.redrive import show_redrive

Show = Callable[[Work, AcceptanceContext], str]

SHOWS: Mapping[Step, Show] = MappingProxyType(
    {
        Step.PROFILES: show_profiles,
        Step.EVENTS: show_events,
        Step.QUARANTINE: show_quarantine,
        Step.DIGEST: show_digest,
        Step.BOUNCE: show_bounce,
        Step.COMPLAINT: show_complaint,
        Step.REDRIVE: show_redrive,
        Step.IMMEDIATE: show_immediate,
        Step.ONE_CLICK: show_one_click,
        Step.OPT_OUTS: show_opt_outs,
        Step.ERASE: erase,
    }
)
"""The function of each step except READY. It returns the observed result, and raises Failed if the
promise is not kept, or NotShown if the step is not possible."""


def show(
    step: Step, rows: Iterable[Row], work: Callable[[], Work], context: AcceptanceContext
) -> Row:
    """Run a step, and return its row. An error of the stage fails the step."""
    before = {row.step: row.result for row in rows}
    began = context.waiting.now()
    missing = [each for each in REQUIRES[step] if before.get(each) is not Result.PASSED]
    if missing:
        why = f"requires the step {', '.join(missing)}, which did not pass"
        return _row(step, Result.NOT_SHOWN, why, began, context)
    try:
        return _row(step, Result.PASSED, SHOWS[step](work(), context), began, context)
    except NotShown as err:
        return _row(step, Result.NOT_SHOWN, str(err), began, context)
    except (Failed, Unavailable, UnreadableRow, NotYet, Interrupted) as err:
        return _row(step, Result.FAILED, str(err), began, context)


def _row(step: Step, result: Result, seen: str, began: datetime, context: AcceptanceContext) -> Row:
    seconds = round((context.waiting.now() - began).total_seconds())
    return Row(step=step, result=result, seen=seen, seconds=seconds)
