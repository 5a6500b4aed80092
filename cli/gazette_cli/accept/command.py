"""`gazette accept`: show on a deployed stage that Gazette keeps its promises."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now

from gazette_cdk.stacks.names import PREFIX
from gazette_cli.accept.stage import (
    acceptance_settings,
    begin,
    check_ready,
    check_unsuppressed,
    publisher,
)
from gazette_cli.accept.state import State, read_state
from gazette_cli.accept.waiting import Sleeping
from gazette_cli.shared.answers import Rows, Yes, confirm
from gazette_cli.shared.console import NOT_POSSIBLE, NotPossible, note
from gazette_cli.shared.deployed import StageName
from gazette_cli.shared.next_commands import aimed, to_run
from gazette_cli.shared.suppression_key import suppression_key
from gazette_support.bootstrap.acceptance import AcceptanceSettings, build_acceptance
from gazette_support.domain.acceptance.readers import next_due
from gazette_support.domain.acceptance.rows import Result, Row, Step, selected
from gazette_support.steps.acceptance.context import AcceptanceContext
from gazette_support.steps.acceptance.run import show

_FAILED = 1
"""The exit status if a promise is not kept."""

_INTERRUPTED = 130
"""The exit status after Ctrl-C."""

_COLUMNS = {
    "step": "step",
    "expected": "expected",
    "seen": "seen",
    "result": "result",
    "seconds": "seconds",
}


def accept(
    stage: StageName = "prod",
    only: Annotated[
        list[Step] | None,
        typer.Option(
            "--only",
            metavar="STEP",
            help="Run only this step, the steps that it requires, and `erase`. Repeat the option "
            f"for more steps. The steps are {', '.join(Step)}.",
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep", help="Do not run `erase`, so that you can look at the readers and emails."
        ),
    ] = False,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Continue an earlier acceptance with its state file.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Your own address. You then click the unsubscribe link in the email by hand. No "
            "reader may have this address. Required for a stage that sends by SMTP.",
            show_default=False,
        ),
    ] = "",
    stack_prefix: Annotated[
        str,
        typer.Option(
            metavar="PREFIX",
            help="The beginning of the names of the stacks (`stack_prefix` of the app).",
        ),
    ] = PREFIX,
    yes: Yes = False,
) -> None:
    """Show on a deployed stage that Gazette keeps its promises: synthetic readers at SES's mailbox
    simulator, events, a digest with its delivery event, suppression, one-click unsubscribe,
    redrive and erasure.

    The command takes up to 40 minutes, sends five emails, and concerns no other reader. At the end,
    it removes the readers and their suppressions. It does not begin if `gazette doctor` finds a
    problem. The exit code is 0 if every step passed, 1 if a step failed, and 2 if a step could not
    be shown. docs/accept.md describes each step.
    """
    settings = acceptance_settings(stage)
    steps = selected(only or ())
    if keep:
        steps.remove(Step.ERASE)
    if steps == [Step.ERASE] and not resume:
        raise NotPossible("--only erase requires --resume with the file of an acceptance.")
    if resume:
        if to:
            raise NotPossible("--to belongs to the beginning. Omit the option to resume.")
        state = read_state(resume, stage=stage)
        state.plan(next_due(now(), settle_lag=settings.generate.settle_lag))
    else:
        state = _begun(stage, settings, to, steps, stack_prefix, yes=yes)
    context = _context(state, settings)
    if not resume:
        check_unsuppressed(state, context)
        state.save()
    with _interruptible(state):
        _run(steps, state, context)
    _conclude(state)


def _begun(
    stage: str,
    settings: AcceptanceSettings,
    to: str,
    steps: Sequence[Step],
    stack_prefix: str,
    *,
    yes: bool,
) -> State:
    """Check the stage, and ask for confirmation. Return a new state, which is not stored yet."""
    began = now()
    state = begin(stage, settings, to=to, folder=Path.cwd(), clock=began)
    seen = check_ready(state, settings, stack_prefix)
    took = round((now() - began).total_seconds())
    state.rows[Step.READY] = Row(step=Step.READY, result=Result.PASSED, seen=seen, seconds=took)
    if Step.QUARANTINE in steps:
        note("The alarm quarantine-not-empty may ring: the step `quarantine` uses the quarantine.")
    if not yes:
        confirm(
            f"Run the acceptance {state.acceptance} of stage {stage}, with "
            f"{len(state.readers)} synthetic readers?"
        )
        state.plan(next_due(now(), settle_lag=settings.generate.settle_lag))
    return state


def _context(state: State, settings: AcceptanceSettings) -> AcceptanceContext:
    return build_acceptance(
        state.stage,
        settings,
        suppression_key=suppression_key(state.stage, settings.feedback.suppressions_secret),
        publish=publisher(settings),
        waiting=Sleeping(),
        in_sandbox=state.in_sandbox,
    )


def _run(steps: Sequence[Step], state: State, context: AcceptanceContext) -> None:
    """Run the steps that have not passed yet."""
    for step in steps:
        if state.has_passed(step):
            continue
        if step is Step.DIGEST:
            note(f"Waiting for the digest of {state.due_at:%H:%M} UTC.")
        if step is Step.ONE_CLICK and state.to:
            note(f"Click the link that ends all email, at the end of the digest to {state.to}.")
        row = show(step, state.rows.values(), state.work, context)
        state.add(row)
        note(f"{step}: {row.result}: {row.seen}")


def _conclude(state: State) -> None:
    """Print the rows, and delete the file if the readers are erased."""
    rows = [state.rows[step] for step in Step if step in state.rows]
    is_clean = state.has_passed(Step.ERASE)
    if is_clean:
        with suppress(OSError):
            state.path.unlink()
    number = {result: sum(row.result is result for row in rows) for result in Result}
    Rows(
        "steps",
        _COLUMNS,
        [
            (row.step, row.expected, aimed(row.seen, stage=state.stage), row.result, row.seconds)
            for row in rows
        ],
    ).show(
        acceptance=state.acceptance,
        stage=state.stage,
        passed=number[Result.PASSED],
        failed=number[Result.FAILED],
        not_shown=number[Result.NOT_SHOWN],
        state_file=None if is_clean else str(state.path),
    )
    if not is_clean:
        note(_how_to_continue(state))
    if number[Result.FAILED]:
        raise typer.Exit(_FAILED)
    if number[Result.NOT_SHOWN]:
        raise typer.Exit(NOT_POSSIBLE)


def _how_to_continue(state: State) -> str:
    file, stage = state.path, state.stage
    return (
        f"The readers accept-{state.acceptance}-* are still stored. To continue, run "
        f"`{to_run(f'accept --resume {file}', stage=stage)}`. To clean up, run "
        f"`{to_run(f'accept --resume {file} --only erase', stage=stage)}`."
    )


@contextmanager
def _interruptible(state: State) -> Iterator[None]:
    """End with one line at Ctrl-C. The state is already stored."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"Interrupted. {_how_to_continue(state)}")
        raise typer.Exit(_INTERRUPTED) from None
