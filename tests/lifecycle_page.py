"""A script, `python -m tests.lifecycle_page`, that generates docs/lifecycle.md."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gazette.domain.delivery.lifecycle import MAX_REFUSALS, Ignored, transition
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import (
    Accepted,
    Cancel,
    Carry,
    Claim,
    DeadlinePassed,
    Evidence,
    GiveUp,
    GraceOver,
    NotAttempted,
    Policy,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    Signal,
    Skip,
    Stop,
    Uncertain,
)
from gazette.domain.model import RunKey, Window

PAGE = Path(__file__).parents[1] / "docs" / "lifecycle.md"

_NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
_WINDOW = Window(_NOON - timedelta(days=1), _NOON)
_PENDING = Run(RunKey("ann", "daily", 7), due_at=_NOON, check_at=_NOON)
_SENDING = replace(
    _PENDING,
    status=Status.SENDING,
    reason=Reason.CLAIMED,
    attempt=1,
    window=_WINDOW,
    deadline=_NOON,
    nonce="n",
)
_RETRYING = replace(_SENDING, status=Status.RETRYING, reason=Reason.REFUSED_FOR_NOW, refusals=1)
_UNKNOWN = replace(
    _SENDING, status=Status.UNKNOWN, reason=Reason.UNCERTAIN, uncertain=frozenset({1})
)
_RESEND = replace(_UNKNOWN, status=Status.RETRYING, reason=Reason.POLICY_RESEND, resent=True)

RUNS: tuple[tuple[str, Run], ...] = (
    ("pending", _PENDING),
    ("sending", _SENDING),
    ("sending, last attempt", replace(_SENDING, refusals=MAX_REFUSALS - 1)),
    ("retrying", _RETRYING),
    ("retrying, outcome unknown", _RESEND),
    ("unknown", _UNKNOWN),
    ("unknown, resent", replace(_UNKNOWN, resent=True)),
    ("unknown, carried", replace(_UNKNOWN, reason=Reason.CARRIED)),
    ("sent", replace(_SENDING, status=Status.SENT, reason=Reason.ACCEPTED)),
    ("failed", replace(_SENDING, status=Status.FAILED, reason=Reason.REFUSED_FOR_GOOD)),
    ("failed, given up", replace(_UNKNOWN, status=Status.FAILED, reason=Reason.GIVEN_UP)),
    (
        "failed, outcome unknown",
        replace(_RESEND, status=Status.FAILED, reason=Reason.ATTEMPTS_EXHAUSTED),
    ),
    ("skipped", replace(_PENDING, status=Status.SKIPPED, reason=Reason.EMPTY)),
    ("cancelled", replace(_PENDING, status=Status.CANCELLED, reason=Reason.BATCH_CANCELLED)),
)
"""Every kind of run that at least one signal handles differently."""

SIGNALS: tuple[tuple[str, Signal], ...] = (
    ("Claim", Claim(_WINDOW, _NOON, "m")),
    ("Accepted", Accepted(1, "m1")),
    ("RefusedForNow", RefusedForNow(1)),
    ("RefusedForGood", RefusedForGood(1)),
    ("RefusedAccount", RefusedAccount(1)),
    ("NotAttempted", NotAttempted(1)),
    ("Uncertain", Uncertain(1)),
    ("DeadlinePassed", DeadlinePassed(1)),
    ("Evidence", Evidence(1, "m1")),
    ("GraceOver (resend)", GraceOver(Policy.RESEND)),
    ("GraceOver (carry_over)", GraceOver(Policy.CARRY_OVER)),
    ("GraceOver (assume_sent)", GraceOver(Policy.ASSUME_SENT)),
    ("Carry", Carry()),
    ("GiveUp", GiveUp()),
    ("Skip", Skip(Reason.EMPTY)),
    ("Cancel", Cancel(Reason.SUPERSEDED)),
    ("Stop", Stop()),
)


_HEAD = """# The life of a run

Audience: engineers who change delivery. This page shows the effect of each signal on the status of
a run.

`make docs` writes this page from `transition` in `gazette.domain.delivery.lifecycle`, which defines
the result of every signal in every status. Signals that a table does not list are ignored.
[protocol.md](protocol.md) states the rules, and the [glossary](glossary.md) defines the terms.

```mermaid
stateDiagram-v2"""

_ATTEMPTS = """Each signal about an attempt contains the number of the attempt. Signals about
earlier attempts are ignored, except acceptance and evidence. A stop increments the run's epoch.
Workers that read the run before the stop can then no longer claim the run."""


def page() -> str:
    """Return the whole page."""
    return "\n".join([_HEAD, *_diagram(), "```", "", _ATTEMPTS, "", *_tables()])


def _diagram() -> Iterator[str]:
    """Yield one arrow for each change of status, labelled with the signals that cause it."""
    arrows: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for _, run in RUNS:
        for name, signal in SIGNALS:
            after = transition(run, signal)
            if isinstance(after, Run) and after.status is not run.status:
                label = "Accepted, Evidence" if name in {"Accepted", "Evidence"} else name
                arrows[run.status, after.status][label] = None
    yield "    [*] --> pending"
    for (before, then), names in arrows.items():
        yield f"    {before} --> {then}: {', '.join(names)}"
    for status in Status:
        if status.is_final:
            yield f"    {status} --> [*]"


def _tables() -> Iterator[str]:
    """Yield a table for each kind of run, with the effect of each signal."""
    for kind, run in RUNS:
        yield f"## {kind}"
        yield ""
        yield "| signal | new status | new reason |"
        yield "| --- | --- | --- |"
        for name, signal in SIGNALS:
            after = transition(run, signal)
            if isinstance(after, Ignored):
                continue
            yield f"| {name} | {_told(run, after)} | {_why(run, signal, after)} |"
        yield ""


def _told(run: Run, after: Run) -> str:
    if (after.status, after.reason) == (run.status, run.reason):
        late = "; marked as overtaken" if after.overtaken and not run.overtaken else ""
        return f"unchanged, with a higher epoch{late}"
    return after.status.value


def _why(run: Run, signal: Signal, after: Run) -> str:
    if isinstance(signal, Skip | Cancel):
        return "the signal's reason"
    return "" if after.reason == run.reason else f"`{after.reason}`"


if __name__ == "__main__":
    PAGE.write_text(page())
