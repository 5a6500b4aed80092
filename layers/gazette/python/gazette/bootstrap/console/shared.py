"""The parts that both functions of the support page share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from gazette.adapters.aws.dead_letters.states import QueueRead
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.console.answers import DOCUMENTATION, problem_page
from gazette.adapters.console.buttons import Buttons
from gazette.adapters.console.requests import WidgetRequest, arn_of, read_widget
from gazette.adapters.console.values import Assessed
from gazette.adapters.threads import side_by_side
from gazette.bootstrap.support.dead_letters import build_forecast
from gazette.bootstrap.support.find import build_read_run
from gazette.domain.dead_letters import KNOWN, DeadLetter, DeadQueue
from gazette.domain.delivery.run import Run
from gazette.domain.errors import NotYet, UnreadableRow
from gazette.domain.model import RunKey
from gazette.observability import TimeLeft, logger, time_left_of
from gazette.settings.delivery import SupportSettings
from gazette.steps.support.forecast_words import ForecastOf, answer
from gazette.steps.support.reasons import outcome, words_for
from gazette.steps.support.words.commands import with_stage

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

_CAUSES: Mapping[str, str] = {
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


def buttons(stage: str, arn: str) -> Buttons:
    """Return the buttons of the page. `arn` is that of either function."""
    looking, redriving = (arn_of(f"gazette-{stage}-{name}", arn) for name in (LOOKS, REDRIVES))
    return Buttons(looking=looking, redriving=redriving)


class Assessor:
    """A forecaster of redrives, with the words of `gazette dlq`."""

    def __init__(self, settings: SupportSettings) -> None:
        self._stage = settings.stage_name
        self._read_run = build_read_run(settings)

        @cache
        def forecast() -> ForecastOf:
            return build_forecast(settings, read_suppression_key(settings.suppressions_secret))

        self._forecast = forecast

    def assess(self, letter: DeadLetter) -> Assessed:
        """Return a dead letter with the reason why it is here, and with the effect of a redrive."""
        word, why = answer(letter, lambda key, given_up: self._forecast()(key, given_up))
        return Assessed(letter, self._cause(letter), word, with_stage(why, stage=self._stage))

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

    def _cause(self, letter: DeadLetter) -> str:
        if not letter.is_ours:
            return f"The function cannot decode the message.{self._log(letter)}"
        if letter.key:
            return self._cause_of(letter.key) + self._log(letter)
        if not letter.dead.is_policy:
            return "AWS could not deliver the message to its queue or function."
        return f"The function failed.{self._log(letter)}"

    def _cause_of(self, key: RunKey) -> str:
        try:
            run = self._read_run(key)
        except UnreadableRow:
            return "The row of the run cannot be read."
        return standing(run, self._stage) if run else "The run no longer exists."

    def _log(self, letter: DeadLetter) -> str:
        """Name the log of the function. For a message that SQS moved, add the query that finds its
        lines: SQS keeps the id, which the function logs.
        """
        source = letter.dead.source
        if source is None:
            return ""
        log = f" See the log /aws/lambda/gazette-{self._stage}-{_CAUSES.get(source, source)}."
        if not letter.dead.is_policy:
            return log
        return f'{log} Its query in CloudWatch Logs Insights: filter message_id = "{letter.id}"'


def standing(run: Run, stage: str) -> str:
    """Return the status of a run and the reason, with the provider's error code."""
    code = f" ({run.detail})" if run.detail else ""
    why = with_stage(words_for(run).why, stage=stage)
    return f"The run {outcome(run)}: {why}{code}."


def log_problems(reads: Iterable[QueueRead]) -> None:
    """Log each queue that could not be read."""
    for each in reads:
        if each.problem:
            logger().error("queue not read", queue=each.name, why=str(each.problem))
