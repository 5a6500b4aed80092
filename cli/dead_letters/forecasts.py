"""What a redrive does to a dead letter, in a word and in a sentence."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from gazette.domain.delivery.run import Run
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey
from gazette.steps.delivery.types import WaitingFor
from gazette.steps.support.dead_letters import Forecast, Redrive

from cli.dead_letters.messages import DeadLetter
from cli.explain.reasons import words_for
from cli.shared.answers import moment
from cli.shared.console import printable
from cli.shared.next_commands import aimed

AGAIN = "again"
"""It is processed as if it were delivered for the first time."""

FAILS_AGAIN = "fails_again"
"""Its function cannot read it, today or later."""

STAYS = "stays"
"""It has no queue to go back to."""

ForecastOf = Callable[[RunKey, bool], Forecast]
"""Forecasts the redrive of a run; the flag says whether it had exhausted its attempts."""

WAITING_FOR: Mapping[WaitingFor, str] = {
    WaitingFor.PAUSE_OVER: "the provider refused it for now; it is retried at {at}",
    WaitingFor.COLLECTED: "it still collects events; it is sent from {at} on",
    WaitingFor.OLDER_RUN: "an older run of its schedule is not settled; it is retried at {at}",
    WaitingFor.PERMIT: "no send permit is free; it is retried at {at}",
    WaitingFor.NEXT_DAY: "the daily cap is used up; it waits for the next day",
    WaitingFor.REMOVAL: "more of its events are over than one message removes; it goes on at once",
    WaitingFor.SENDING_RESUMED: "sending is stopped: `gazette sending status` says why; it is sent "
    "once sending resumes",
}

_SENT_NOW = (
    "it was not sent, and events wait: it is sent now. If it fails again, the log of its "
    "function says why"
)
_SENT_AGAIN = (
    "it may have been sent, and the policy of the stage is to send it again: that happens now"
)
_NO_RUN = "its run does not exist, or no longer: a redrive changes nothing"
_UNREADABLE = "its function cannot read it and fails again: delete it"

_OF_ANOTHER_VERSION = (
    "a row that it needs cannot be read; the log names it. Deploy the release that wrote it, "
    "or repair the row, then redrive"
)

_OF_ANOTHER = {
    Redrive.STARTS_NEXT: "it failed; run {run} starts now, with all waiting events",
    Redrive.SENT_SINCE: "run {run}, due {at}, was sent with its events; nothing is sent",
    Redrive.GOES_WITH: "its events go with run {run}, which has not been sent and is queued again",
    Redrive.PAUSED: "{was}; nothing is started: the reader has paused, and its events go "
    "with the first email after the pause",
    Redrive.NO_SCHEDULE: "{was}; nothing is started: the reader no longer has this schedule",
}

_ENDINGS = {
    Redrive.ALREADY_SENT: "it is not sent again",
    Redrive.UNKNOWN: "a delivery event or the sweep settles it, and no redrive",
    Redrive.BEING_SENT: "no second worker sends it meanwhile",
    Redrive.TOO_LATE: "its events go with the next digest",
    Redrive.NOT_WANTED: "nothing is sent",
}


def answer(letter: DeadLetter, forecast: ForecastOf, *, stage: str) -> tuple[str, str]:
    """What a redrive does, in one word, and why, with commands for the stage."""
    word, why = _answer(letter, forecast)
    return word, aimed(why, stage=stage)


def _answer(letter: DeadLetter, forecast: ForecastOf) -> tuple[str, str]:
    if not letter.is_ours:
        return FAILS_AGAIN, _UNREADABLE
    if letter.key is None:
        return (AGAIN if letter.dead.source else STAYS), letter.dead.sentence
    expected = forecast(letter.key, letter.given_up)
    return expected.redrive.value, _why(expected)


def _why(expected: Forecast) -> str:
    """Why, without content or address."""
    run = expected.run
    if expected.redrive is Redrive.UNREADABLE:
        return _OF_ANOTHER_VERSION
    if run is None:
        return _NO_RUN
    if expected.redrive in _OF_ANOTHER:
        told = _OF_ANOTHER[expected.redrive].format(
            run=printable(run_id(run.key)), at=moment(run.due_at), was=_standing(run)
        )
        return "; ".join(filter(None, (told, _waiting_for(expected))))
    if expected.reason:
        instead = words_for(replace(run, reason=expected.reason)).why
        return f"{_standing(run)}; nothing is started: {instead}"
    if waiting_for := _waiting_for(expected):
        return waiting_for
    if expected.redrive is Redrive.SENDS:
        return _SENT_AGAIN if run.may_have_been_sent else _SENT_NOW
    return f"{_standing(run)}; {_ENDINGS[expected.redrive]}"


def _waiting_for(expected: Forecast) -> str:
    """What it waits for, and until when; empty if it waits for nothing."""
    if expected.waiting_for is None or expected.again_at is None:
        return ""
    return WAITING_FOR[expected.waiting_for].format(at=moment(expected.again_at))


def _standing(run: Run) -> str:
    """The status of the run, why, and the provider's code for a refusal or unknown outcome."""
    code = f" ({printable(run.detail)})" if run.detail else ""
    return f"{run.status}: {words_for(run).why}{code}"
