"""Forecast the result of redriving a dead letter for a run."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from gazette.domain.delivery.redrive import Redriven, RedriveResult
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import RunKey
from gazette.steps.delivery.types import WaitingFor
from gazette.steps.occurrences.redrive import is_exhausted
from gazette.steps.support.dry_run import DryRun, DryRunContext, dry_run, dry_run_redrive


class Redrive(StrEnum):
    """The result of a redrive.

    Only `sends`, `waits`, `starts_next` and `goes_with` result in an email. After `too_late` and
    `paused`, the next email includes the events.
    """

    SENDS = "sends"
    WAITS = "waits"
    ALREADY_SENT = "already_sent"
    UNKNOWN = "unknown"
    BEING_SENT = "being_sent"
    NOT_WANTED = "not_wanted"
    TOO_LATE = "too_late"
    NO_SUCH_RUN = "no_such_run"
    UNREADABLE = "unreadable"
    STARTS_NEXT = "starts_next"
    SENT_SINCE = "sent_since"
    GOES_WITH = "goes_with"
    NO_SCHEDULE = "no_schedule"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Forecast:
    """The result of redriving one dead letter now."""

    redrive: Redrive
    run: Run | None = None
    """The run after the redrive, or before the claim if it is sent. None if the run does not exist.

    For a failed run, this is the run that sends or has sent its events, if any.
    """

    waiting_for: WaitingFor | None = None
    """The reason why the run waits."""

    again_at: datetime | None = None
    """The time at which a waiting run is tried again."""

    reason: Reason | None = None
    """The reason why no run is started, for a reader who gets no email."""


_BY_STATUS = {
    Status.SENT: Redrive.ALREADY_SENT,
    Status.UNKNOWN: Redrive.UNKNOWN,
    Status.SENDING: Redrive.BEING_SENT,
    Status.FAILED: Redrive.NOT_WANTED,
    Status.SKIPPED: Redrive.NOT_WANTED,
    Status.CANCELLED: Redrive.NOT_WANTED,
    Status.PENDING: Redrive.WAITS,
    Status.RETRYING: Redrive.WAITS,
}


def forecast(key: RunKey, *, given_up: bool = False, context: DryRunContext) -> Forecast:
    """Return the result of redriving a message with `key` now. Reads only.

    `given_up` means that the message is from the queue `failed`. The result is based only on the
    tables. It does not consider whether a template can show the events or whether the provider
    accepts the email. Each message is forecast as if it were redriven alone. If two messages name
    the same run, the second would find it already sent.
    """
    try:
        expected = dry_run(key, context=context)
        if expected and given_up and is_exhausted(expected.delivery.run):
            return _redriven(*dry_run_redrive(expected.delivery.run, context=context))
    except UnreadableRow:
        return Forecast(Redrive.UNREADABLE)
    if expected is None:
        return Forecast(Redrive.NO_SUCH_RUN)
    return _delivered(expected)


_REDRIVE_OF = {
    RedriveResult.SENT_SINCE: Redrive.SENT_SINCE,
    RedriveResult.GOES_WITH: Redrive.GOES_WITH,
    RedriveResult.NO_SCHEDULE: Redrive.NO_SCHEDULE,
    RedriveResult.RECEIVES_NO_EMAIL: Redrive.NOT_WANTED,
    RedriveResult.PAUSED: Redrive.PAUSED,
}


def _redriven(redriven: Redriven, started: DryRun | None) -> Forecast:
    """Forecast the redrive of a failed run.

    A run that is started but sends no email has a reason.
    """
    if started is None:
        run = redriven.run or redriven.failed
        return Forecast(_REDRIVE_OF[redriven.result], run, reason=redriven.reason)
    expected = _delivered(started)
    if expected.redrive in {Redrive.SENDS, Redrive.WAITS}:
        return replace(expected, redrive=Redrive.STARTS_NEXT)
    return expected


def _delivered(expected: DryRun) -> Forecast:
    run, again_at = expected.delivery.run, expected.delivery.again_at
    if expected.would_send:
        return Forecast(Redrive.SENDS, run)
    if again_at is not None:
        return Forecast(Redrive.WAITS, run, expected.delivery.waiting_for, again_at)
    if (run.status, run.reason) == (Status.SKIPPED, Reason.TOO_LATE):
        return Forecast(Redrive.TOO_LATE, run)
    return Forecast(_BY_STATUS.get(run.status, Redrive.UNREADABLE), run)
