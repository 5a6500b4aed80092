"""Forecasts of the effect of a redrive on a dead letter, in one word and in a sentence."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from gazette.domain.dead_letters import DeadLetter
from gazette.domain.delivery.run import Run
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey
from gazette.domain.scheduling.instants import moment
from gazette.steps.delivery.types import WaitingFor
from gazette.steps.support.dead_letters import Forecast, Redrive
from gazette.steps.support.reasons import words_for

AGAIN = "again"
"""The forecast for a message that the function will process like a new message."""

FAILS_AGAIN = "fails_again"
"""The forecast for a message that the function cannot decode."""

STAYS = "stays"
"""The forecast for a message that cannot be redriven, because it has no source queue."""

ForecastOf = Callable[[RunKey, bool], Forecast]
"""A function that forecasts the redrive of a run. The second argument is True if every attempt to
send the run failed.
"""

WAITING_FOR: Mapping[WaitingFor, str] = {
    WaitingFor.PAUSE_OVER: "the provider temporarily rejected the email; it is retried at {at}",
    WaitingFor.COLLECTED: "the email is still collecting events; it is sent at {at} or later",
    WaitingFor.QUIET_HOURS: "the reader has quiet hours; the email is sent at {at} or later",
    WaitingFor.OLDER_RUN: (
        "an older run of the same schedule has not ended; this run is retried at {at}"
    ),
    WaitingFor.PERMIT: "no send permit is available; the run is retried at {at}",
    WaitingFor.NEXT_DAY: "the daily cap is used up; the run waits until the next day",
    WaitingFor.CONTENT: "the digest waits for recommendations; the run is retried at {at}",
    WaitingFor.REMOVAL: (
        "the run has more obsolete events than one message can remove; it continues immediately"
    ),
    WaitingFor.SENDING_RESUMED: (
        "sending is stopped (`gazette sending status` shows the reason); the email is sent once "
        "sending resumes"
    ),
}

_SENT_NOW = (
    "the email was not sent, and events are waiting, so the email is sent now. If the run fails "
    "again, check the log of the function"
)
_SENT_AGAIN = (
    "the email may have been sent; the stage's policy is to send such an email again, so the email "
    "is sent now"
)
_NO_RUN = "the run does not exist or was deleted, so a redrive changes nothing"
_UNREADABLE = "the function cannot decode the message and would fail again. Delete the message"

_OF_ANOTHER_VERSION = (
    "a required row is unreadable; the log names the row. Deploy the release that wrote the "
    "row, or repair the row, then redrive the message"
)

_OF_ANOTHER = {
    Redrive.STARTS_NEXT: "the run failed; run {run} starts now with all waiting events",
    Redrive.SENT_SINCE: "run {run}, due {at}, has already sent these events; no email is sent",
    Redrive.GOES_WITH: (
        "the events are included in run {run}, which has not been sent and is queued again"
    ),
    Redrive.PAUSED: (
        "{was}; no run is started because the reader paused email; the first email after the "
        "pause includes the events"
    ),
    Redrive.NO_SCHEDULE: "{was}; no run is started because the reader no longer has this schedule",
}

_ENDINGS = {
    Redrive.ALREADY_SENT: "the email is not sent again",
    Redrive.UNKNOWN: (
        "a redrive does not change the outcome; a delivery event or the sweep determines it"
    ),
    Redrive.BEING_SENT: "a second worker does not send the email at the same time",
    Redrive.TOO_LATE: "the next digest includes the events, if the reader still gets digests",
    Redrive.NOT_WANTED: "",
}


def answer(letter: DeadLetter, forecast: ForecastOf) -> tuple[str, str]:
    """Return the forecast of a redrive in one word, and the reason."""
    if not letter.is_ours:
        return FAILS_AGAIN, _UNREADABLE
    if letter.key is None:
        return (AGAIN if letter.dead.source else STAYS), letter.dead.sentence
    expected = forecast(letter.key, letter.given_up)
    return expected.redrive.value, _why(expected)


def _why(expected: Forecast) -> str:
    """Return the reason for a forecast. The text contains no email content and no addresses."""
    run = expected.run
    if expected.redrive is Redrive.UNREADABLE:
        return _OF_ANOTHER_VERSION
    if run is None:
        return _NO_RUN
    if expected.redrive in _OF_ANOTHER:
        effect = _OF_ANOTHER[expected.redrive].format(
            run=run_id(run.key), at=moment(run.due_at), was=_standing(run)
        )
        return "; ".join(filter(None, (effect, _waiting_for(expected), _collects(expected))))
    if expected.reason:
        why = words_for(replace(run, reason=expected.reason)).why
        return f"{_standing(run)}; no run is started: {why}"
    if waiting_for := _waiting_for(expected):
        return waiting_for
    if expected.redrive is Redrive.SENDS:
        return _SENT_AGAIN if run.may_have_been_sent else _SENT_NOW
    return "; ".join(filter(None, (_meaning(run), _ENDINGS[expected.redrive])))


def _waiting_for(expected: Forecast) -> str:
    """Return the reason why a run waits and the time of its next attempt, or "" if the run does not
    wait.
    """
    if expected.waiting_for is None or expected.again_at is None:
        return ""
    return WAITING_FOR[expected.waiting_for].format(at=moment(expected.again_at))


def _collects(expected: Forecast) -> str:
    """Return the end of collecting of the run that includes the events, or "" if it does not wait
    after other emails."""
    run = expected.run
    if expected.redrive is not Redrive.GOES_WITH or run is None or not run.waits_after_others:
        return ""
    return f"the run collects events until {moment(run.due_at)}"


def _standing(run: Run) -> str:
    """Return the run's status and its meaning."""
    return f"{run.status}: {_meaning(run)}"


def _meaning(run: Run) -> str:
    """Return the reason for a run's status. For a rejection, include the provider's error code."""
    code = f" ({run.detail})" if run.detail else ""
    return f"{words_for(run).why}{code}"
