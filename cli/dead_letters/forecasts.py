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
from cli.shared.console import printable
from cli.shared.formatting import moment

AGAIN = "again"
"""It is worked off as if it came for the first time."""

COMES_BACK = "comes_back"
"""Its function cannot read it, today or later."""

STAYS = "stays"
"""It has no queue to be brought back to."""

ForecastOf = Callable[[RunKey, bool], Forecast]
"""What a redrive does with the run of a letter, which was given up or not."""

WAITING_FOR: Mapping[WaitingFor, str] = {
    WaitingFor.PAUSE_OVER: "the provider refused it for the moment; it is tried again at {at}",
    WaitingFor.COLLECTED: "it still collects what happens; it goes out from {at} on",
    WaitingFor.OLDER_RUN: "an older run of its schedule is not settled; it is tried again at {at}",
    WaitingFor.PERMIT: "there is no permit to send just now; it is tried again at {at}",
    WaitingFor.NEXT_DAY: "the sending limit of the day is used up; it is tried again until then",
    WaitingFor.SENDING_RESUMED: "sending is stopped (gazette sending status); goes out on resume",
}

_SENT_NOW = (
    "nobody has sent it, and something waits: it goes out now. If it comes back, the log of its "
    "function says why"
)
_SENT_AGAIN = (
    "it may have gone out, and nobody knows; the policy of the stage is to send it once more: that "
    "happens now"
)
_NO_RUN = "its run is not there, or no longer: it changes nothing"
_UNREADABLE = "its function cannot read it, and it comes back: delete it"

_OF_ANOTHER_VERSION = (
    "a row that it needs cannot be read: the log names it; deploy the version that wrote it, or "
    "mend it, and redrive then"
)

_OF_ANOTHER = {
    Redrive.STARTS_NEXT: "it failed; run {run} starts now, with everything that waits",
    Redrive.SENT_SINCE: "run {run}, due {at}, was sent with its events; nothing is sent",
    Redrive.GOES_WITH: "its events go with run {run}, which is not sent yet and is queued again",
    Redrive.PAUSED: "{was}; nothing is started: they have paused, and its events go with the "
    "first email after that",
    Redrive.NO_SCHEDULE: "{was}; nothing is started: they have no such schedule any more",
}

_ENDINGS = {
    Redrive.ALREADY_SENT: "it is not sent again",
    Redrive.UNKNOWN: "a delivery event settles that, or the sweep, and no redrive",
    Redrive.BEING_SENT: "no other sends it meanwhile",
    Redrive.TOO_LATE: "its events go with the next",
    Redrive.NOT_WANTED: "nothing is sent",
}


def answer(letter: DeadLetter, forecast: ForecastOf) -> tuple[str, str]:
    """What a redrive does, in a word, and why."""
    if not letter.is_ours:
        return COMES_BACK, _UNREADABLE
    if letter.key is None:
        return (AGAIN if letter.dead.source else STAYS), letter.dead.sentence
    expected = forecast(letter.key, letter.given_up)
    return expected.redrive.value, why(expected)


def why(expected: Forecast) -> str:
    """Why it does that, without content or address."""
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
    """What it waits for, and until when; empty where it waits for nothing."""
    if expected.waiting_for is None or expected.again_at is None:
        return ""
    return WAITING_FOR[expected.waiting_for].format(at=moment(expected.again_at))


def _standing(run: Run) -> str:
    """What became of it, or would now, and the provider's code for a refusal or unknown outcome."""
    code = f" ({printable(run.detail)})" if run.detail else ""
    return f"{run.status}: {words_for(run).why}{code}"
