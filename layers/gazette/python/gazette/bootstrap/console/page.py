"""Composition root of the `support` function, which shows the support page and answers questions.

The function may read queues and tables. It may neither send nor delete messages, and has no key of
orders.
"""

from collections.abc import Callable
from functools import cache, partial

from gazette.adapters.aws.dead_letters.states import QueueReader
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.console.answers import answer_page, problem_page
from gazette.adapters.console.buttons import Buttons
from gazette.adapters.console.overview import FIRST, MORE, first_page, queue_page
from gazette.adapters.console.requests import WidgetRequest
from gazette.adapters.console.story import VIEW, story_page
from gazette.adapters.console.values import (
    Overview,
    QuarantineState,
    QueueState,
    Section,
)
from gazette.bootstrap.console.shared import (
    Assessor,
    Respond,
    buttons,
    known_queues,
    log_problems,
    standing,
)
from gazette.bootstrap.console.story import StoryReader
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.explain import build_explain
from gazette.bootstrap.support.find import build_read_run
from gazette.bootstrap.support.receipt import build_receipts
from gazette.domain.console import remedies
from gazette.domain.dead_letters import QUARANTINE
from gazette.domain.explanation import Explanation
from gazette.domain.identity import USER_ID, parse_run_id
from gazette.domain.scheduling.instants import moment
from gazette.observability import TimeLeft
from gazette.settings.delivery import SupportSettings
from gazette.steps.support.reasons import words_for
from gazette.steps.support.receipt import receipt
from gazette.steps.support.words.commands import with_stage
from gazette.steps.support.words.receipts import sentences
from gazette.steps.support.words.sections import sections

_NO_USER = f"The user id is invalid. {remedies.USER}"
_NO_EVENT = f"The event id is empty or too long. {remedies.EVENT}"
_NO_RUN = f"The run id is invalid. {remedies.RUN} The tables show the ids."
_LONGEST_ID = 512


@cache
def build() -> Respond:
    """Return the function that answers a request. Built once per process."""
    return SupportPage(SupportSettings.from_env()).respond


class SupportPage:
    """The answers to the requests of the page. None of them changes anything."""

    def __init__(self, settings: SupportSettings) -> None:
        self._settings = settings
        self._stage = settings.stage_name
        self._known = known_queues(settings)
        self._reader = QueueReader(settings.stage_name, clock=now)
        self._assessor = Assessor(settings)
        self._story = StoryReader(settings)

        @cache
        def explain() -> Callable[[str, None], Explanation]:
            key = read_suppression_key(settings.suppressions_secret)
            return build_explain(settings, key, settings.allowed)

        self._explain = explain
        self._receipts = build_receipts(settings, engagement_table=settings.engagement_table)

    def respond(self, request: WidgetRequest, _: TimeLeft) -> str:
        """Return the page that a request asks for. An unknown action gets the first page."""
        answers = {
            "explain": self._explained,
            "receipt": self._receipt,
            "run": self._run,
        }
        if request.do in answers:
            return answers[request.do](request)
        page_buttons = buttons(self._stage, request.arn)
        if not request.do and request.value("view") == VIEW:
            return story_page(self._story.read(), page_buttons, theme=request.theme)
        if request.do == "messages":
            return self._messages(request, page_buttons)
        return first_page(self._overview(), page_buttons, theme=request.theme)

    def _overview(self) -> Overview:
        reads = self._reader.read(self._known, most=FIRST, with_quarantine=True)
        log_problems(reads.values())
        assessed = self._assessor.assess_all(
            [letter for each in reads.values() for letter in each.letters]
        )
        states = [
            QueueState(
                dead,
                reads[dead.name].waiting,
                [assessed[letter] for letter in reads[dead.name].letters],
            )
            for dead in self._known
        ]
        quarantine = reads[QUARANTINE]
        return Overview(
            self._stage, now(), states, QuarantineState(quarantine.waiting, quarantine.events)
        )

    def _messages(self, request: WidgetRequest, page_buttons: Buttons) -> str:
        queues = [dead for dead in self._known if dead.name == request.value("queue")]
        if not queues:
            sentence = "This stage does not have the queue. Go back, and choose another one."
            return problem_page(sentence, theme=request.theme, back=page_buttons.back())
        reads = self._reader.read(queues, most=MORE, with_quarantine=False)
        log_problems(reads.values())
        (read,) = reads.values()
        if read.problem:
            sentence = f"The queue {read.name} cannot be read. Go back, and try again in a minute."
            return problem_page(sentence, theme=request.theme, back=page_buttons.back())
        assessed = self._assessor.assess_all(read.letters)
        states = [QueueState(queues[0], read.waiting, [assessed[each] for each in read.letters])]
        overview = Overview(self._stage, now(), states, QuarantineState(0))
        return queue_page(overview, page_buttons, theme=request.theme)

    def _explained(self, request: WidgetRequest) -> str:
        user = request.value("user")
        if not USER_ID.fullmatch(user):
            return problem_page(_NO_USER, theme=request.theme)
        explanation = self._explain()(user, None)
        (verdict, *tables) = sections(explanation)
        aimed = partial(with_stage, stage=self._stage)
        return answer_page(
            f"Reader {user}",
            [aimed(line) for (line,) in verdict.rows],
            [
                Section(
                    each.name.capitalize(),
                    [*map(str.capitalize, each.columns)],
                    [[*map(aimed, row)] for row in each.rows],
                    each.nothing,
                )
                for each in tables
            ],
            user=user,
            theme=request.theme,
        )

    def _receipt(self, request: WidgetRequest) -> str:
        user, event = request.value("user"), request.value("event")
        if not USER_ID.fullmatch(user):
            return problem_page(_NO_USER, theme=request.theme)
        if not 0 < len(event) <= _LONGEST_ID:
            return problem_page(_NO_EVENT, theme=request.theme)
        answer = receipt(user, event, context=self._receipts)
        lines = [with_stage(each, stage=self._stage) for each in sentences(answer)]
        return answer_page(f"Event {event} of {user}", lines, (), user=user, theme=request.theme)

    def _run(self, request: WidgetRequest) -> str:
        name = request.value("run")
        try:
            key = parse_run_id(name)
        except ValueError:
            return problem_page(_NO_RUN, theme=request.theme)
        run = build_read_run(self._settings)(key)
        if run is None:
            days = self._settings.run_retention_days
            sentence = f"The run does not exist. {remedies.gone(days)}"
            return problem_page(sentence, theme=request.theme)
        rows = [
            ("Reader", key.user_id),
            ("Status", run.status.value),
            ("Reason", run.reason.value),
            ("What to do", with_stage(words_for(run).todo, stage=self._stage)),
            ("Due", moment(run.due_at)),
            *(
                (name, moment(at))
                for name, at in (
                    ("Created", run.created_at),
                    ("Claimed", run.claimed_at),
                    ("Sent", run.sent_at),
                )
                if at
            ),
            ("Attempts", str(run.attempt)),
        ]
        return answer_page(
            f"Run {name}",
            [standing(run, self._stage)],
            [Section("Run", ("Field", "Value"), rows)],
            user=key.user_id,
            theme=request.theme,
        )
