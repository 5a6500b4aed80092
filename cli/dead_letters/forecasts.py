"""The effect of a redrive on a dead letter, as one word and as a sentence."""

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
"""The effect on a message that is processed like a new one."""

FAILS_AGAIN = "fails_again"
"""The effect on a message that its function cannot decode."""

STAYS = "stays"
"""The effect on a message without a source queue."""

ForecastOf = Callable[[RunKey, bool], Forecast]
"""A function that forecasts the redrive of a run. The flag is True if all attempts had failed."""

WAITING_FOR: Mapping[WaitingFor, str] = {
    WaitingFor.PAUSE_OVER: "the provider rejected it temporarily; it is retried at {at}",
    WaitingFor.COLLECTED: "it is still collecting events; it is sent at {at} or later",
    WaitingFor.OLDER_RUN: "an older run of its schedule has not ended; it is retried at {at}",
    WaitingFor.PERMIT: "no send permit is available; it is retried at {at}",
    WaitingFor.NEXT_DAY: "the daily cap is used up; it waits for the next day",
    WaitingFor.REMOVAL: "it has more obsolete events than one message can remove; it continues "
    "at once",
    WaitingFor.SENDING_RESUMED: "sending is stopped (`gazette sending status` shows the reason); "
    "it is sent once sending resumes",
}

_SENT_NOW = (
    "it was not sent, and events are waiting, so it is sent now. If it fails again, see the log "
    "of its function"
)
_SENT_AGAIN = "it may have been sent, and the stage's policy is to send it again, so it is sent now"
_NO_RUN = "its run does not exist or was deleted, so a redrive changes nothing"
_UNREADABLE = "its function cannot decode it and fails again. Delete it"

_OF_ANOTHER_VERSION = (
    "a row that it needs is unreadable; the log names the row. Deploy the release that wrote it, "
    "or repair the row, then redrive"
)

_OF_ANOTHER = {
    Redrive.STARTS_NEXT: "it failed; run {run} starts now, with all waiting events",
    Redrive.SENT_SINCE: "run {run}, due {at}, was sent with its events; no email is sent",
    Redrive.GOES_WITH: "its events go with run {run}, which has not been sent and is queued again",
    Redrive.PAUSED: "{was}; no run is started because the reader paused email; its events go "
    "with the first email after the pause",
    Redrive.NO_SCHEDULE: "{was}; no run is started because the reader no longer has this schedule",
}

_ENDINGS = {
    Redrive.ALREADY_SENT: "it is not sent again",
    Redrive.UNKNOWN: "a delivery event or the sweep determines its outcome; a redrive does not",
    Redrive.BEING_SENT: "a second worker does not send it meanwhile",
    Redrive.TOO_LATE: "its events go with the next digest",
    Redrive.NOT_WANTED: "no email is sent",
}


def answer(letter: DeadLetter, forecast: ForecastOf, *, stage: str) -> tuple[str, str]:
    """Return the effect of a redrive in one word, and the reason with commands for the stage."""
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
    """Return the reason, without content or an address."""
    run = expected.run
    if expected.redrive is Redrive.UNREADABLE:
        return _OF_ANOTHER_VERSION
    if run is None:
        return _NO_RUN
    if expected.redrive in _OF_ANOTHER:
        effect = _OF_ANOTHER[expected.redrive].format(
            run=printable(run_id(run.key)), at=moment(run.due_at), was=_standing(run)
        )
        return "; ".join(filter(None, (effect, _waiting_for(expected))))
    if expected.reason:
        why = words_for(replace(run, reason=expected.reason)).why
        return f"{_standing(run)}; no run is started: {why}"
    if waiting_for := _waiting_for(expected):
        return waiting_for
    if expected.redrive is Redrive.SENDS:
        return _SENT_AGAIN if run.may_have_been_sent else _SENT_NOW
    return f"{_standing(run)}; {_ENDINGS[expected.redrive]}"


def _waiting_for(expected: Forecast) -> str:
    """Return the condition it waits for, with the time, or "" if it does not wait."""
    if expected.waiting_for is None or expected.again_at is None:
        return ""
    return WAITING_FOR[expected.waiting_for].format(at=moment(expected.again_at))


def _standing(run: Run) -> str:
    """Return the run's status and reason, with the provider's code for a rejection."""
    code = f" ({printable(run.detail)})" if run.detail else ""
    return f"{run.status}: {words_for(run).why}{code}"
