"""The parts that both functions of the support page share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from gazette.adapters.aws.dead_letters.states import QueueRead
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.console.answers import DOCUMENTATION, problem_page
from gazette.adapters.console.buttons import POPUP, Buttons
from gazette.adapters.console.requests import WidgetRequest, arn_of, read_widget
from gazette.adapters.console.values import Assessed
from gazette.adapters.threads import side_by_side
from gazette.bootstrap.support.dead_letters import build_forecast
from gazette.bootstrap.support.find import build_read_run
from gazette.domain.dead_letters import KNOWN, DeadLetter, DeadQueue
from gazette.domain.delivery.run import Run
from gazette.domain.errors import NotYet, UnreadableRow
from gazette.domain.explanation import DeadRun
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey
from gazette.observability import TimeLeft, logger, time_left_of
from gazette.settings.delivery import SupportSettings
from gazette.steps.support.forecast_words import ForecastOf, answer
from gazette.steps.support.reasons import Words, outcome
from gazette.steps.support.words.commands import on_page
from gazette.steps.support.words.runs import words_of

Respond = Callable[[WidgetRequest, TimeLeft], str]
"""A function that returns the HTML for a request."""

LOOKS, REDRIVES = "support", "support_redrive"
"""The function that shows the page, and the function that redrives messages."""

_TRANSIENT = (
    "The page could not be shown. Refresh it in a minute. If it fails again, ask an operator to "
    "read the log of this function."
)
_UNREADABLE = (
    "A row of the tables cannot be read by this version. Ask an operator to read the log of this "
    "function, which names the row."
)
_CHANGED = "The data changed while it was read. Press the button again."

_READERS: Mapping[str, str] = {
    "immediate": "generate",
    "shard": "fanout",
}
"""The function that reads a queue, if it has another name."""


def answer_widget(
    build: Callable[[], Respond], event: Mapping[str, Any], context: LambdaContext
) -> str:
    """Return the HTML of a widget, or its documentation.

    Any error becomes one sentence with a remedy. The error itself is logged.
    """
    request = read_widget(event, context.invoked_function_arn)
    if request.describes:
        return DOCUMENTATION
    try:
        return build()(request, time_left_of(context))
    except Exception as err:  # noqa: BLE001 -- whatever the error, a person reads the page
        logger().exception("support page failed", do=request.do)
        return problem_page(_sentence(err), theme=request.theme)


def _sentence(err: Exception) -> str:
    if isinstance(err, UnreadableRow):
        return _UNREADABLE
    return _CHANGED if isinstance(err, NotYet) else _TRANSIENT


def known_queues(settings: SupportSettings) -> tuple[DeadQueue, ...]:
    """Return the dead-letter queues that the stage has."""
    return tuple(dead for dead in KNOWN if settings.queries_source or not dead.is_optional)


def buttons(stage: str, request: WidgetRequest) -> Buttons:
    """Return the buttons of a page, which stay in its pop-up if it is in one."""
    arn = request.arn
    looking, redriving = (arn_of(f"gazette-{stage}-{name}", arn) for name in (LOOKS, REDRIVES))
    in_popup = request.parameters.get("place") == POPUP
    return Buttons(looking=looking, redriving=redriving, in_popup=in_popup)


class Assessor:
    """A forecaster of redrives, with the words of `gazette dlq`."""

    def __init__(self, settings: SupportSettings) -> None:
        self._read_run = build_read_run(settings)

        @cache
        def forecast() -> ForecastOf:
            return build_forecast(settings, read_suppression_key(settings.suppressions_secret))

        self._forecast = forecast

    def assess(self, letter: DeadLetter) -> Assessed:
        """Return a dead letter with the reason why it is here, and with the effect of a redrive."""
        word, why = answer(letter, lambda key, given_up: self._forecast()(key, given_up))
        return Assessed(letter, self._state(letter), query_of(letter), word, on_page(why))

    def assess_all(self, letters: Sequence[DeadLetter]) -> dict[DeadLetter, Assessed]:
        """Return the assessments of letters. Ten are made at the same time."""
        by_letter: dict[DeadLetter, Assessed] = {}
        errors: list[Exception] = []

        def assess(letter: DeadLetter) -> None:
            try:
                by_letter[letter] = self.assess(letter)
            except Exception as err:  # noqa: BLE001 -- raised below, in the calling thread
                errors.append(err)

        if any(letter.key for letter in letters):
            self._forecast()  # built before the threads start, because each would build it
        side_by_side(assess, letters)
        if errors:
            raise errors[0]
        return by_letter

    def _state(self, letter: DeadLetter) -> str:
        if not letter.is_ours:
            return "The function cannot decode the message."
        if letter.key:
            return self._state_of(letter.key, DeadRun(letter.dead.name, letter.since))
        if not letter.dead.is_policy:
            return "AWS could not deliver the message to its queue or function."
        return "The function failed."

    def _state_of(self, key: RunKey, dead: DeadRun) -> str:
        try:
            run = self._read_run(key)
        except UnreadableRow:
            return "The row of the run cannot be read."
        if run is None:
            return "The run no longer exists."
        return standing(run, words_of(run, dead=dead, is_off=False))


def log_of(dead: DeadQueue, stage: str) -> str:
    """Return the log group of the function that reads the messages of a queue, or ""."""
    source = dead.source
    return f"/aws/lambda/gazette-{stage}-{_READERS.get(source, source)}" if source else ""


def query_of(letter: DeadLetter) -> str:
    """Return the query that finds the log lines of a message, or "".

    SQS keeps the id of a message that it moves, which the function logs. A message that a function
    or AWS sent has another id. Lines about a run have its id.
    """
    if letter.dead.source is None:
        return ""
    conditions = (
        f'message_id = "{letter.id}"' if letter.dead.is_policy else "",
        f'correlation_id = "{run_id(letter.key)}"' if letter.key else "",
    )
    if not any(conditions):
        return ""
    condition = " or ".join(filter(None, conditions))
    return f"fields @timestamp, message, why, exception | filter {condition} | sort @timestamp desc"


def standing(run: Run, words: Words) -> str:
    """Return the status of a run and its meaning, with the provider's error code."""
    code = f" ({run.detail})" if run.detail else ""
    return f"The run {outcome(run)}: {on_page(words.why)}{code}."


def log_problems(reads: Iterable[QueueRead]) -> None:
    """Log each queue that could not be read."""
    for each in reads:
        if each.problem:
            logger().error("queue not read", queue=each.name, why=str(each.problem))
