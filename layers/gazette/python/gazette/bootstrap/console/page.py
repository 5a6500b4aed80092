"""Composition root of the `support` function, which shows the support page and answers questions.

The function may read queues and tables. It may neither send nor delete messages, and has no key of
orders.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from gazette.adapters.aws.dead_letters.states import QueueReader
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.console.answers import answer_page, problem_page
from gazette.adapters.console.buttons import Buttons
from gazette.adapters.console.markup import Html
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
    log_of,
    log_problems,
    standing,
)
from gazette.bootstrap.console.story import StoryReader
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.explain import build_explain
from gazette.bootstrap.support.find import build_read_run
from gazette.bootstrap.support.receipt import build_receipts
from gazette.domain.console import remedies
from gazette.domain.console.orders import EVERY_QUEUE
from gazette.domain.dead_letters import QUARANTINE
from gazette.domain.delivery.run import Status
from gazette.domain.explanation import Explanation
from gazette.domain.identity import USER_ID, parse_run_id, run_id
from gazette.domain.model import RunKey
from gazette.domain.scheduling.instants import moment
from gazette.observability import TimeLeft
from gazette.settings.delivery import SupportSettings
from gazette.steps.support.dead_runs import LettersRead, oldest_by_run, with_dead_letters
from gazette.steps.support.receipt import receipt
from gazette.steps.support.words.commands import on_page
from gazette.steps.support.words.phrases import sentence
from gazette.steps.support.words.receipts import sentences
from gazette.steps.support.words.runs import words_of
from gazette.steps.support.words.sections import RUN, sections
from gazette.steps.support.words.sections import Section as Answer

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
        page_buttons = buttons(self._stage, request)
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
                log_of(dead, self._stage),
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
            problem = "This stage does not have the queue. Go back, and choose another one."
            return problem_page(problem, theme=request.theme, back=page_buttons.back())
        reads = self._reader.read(queues, most=MORE, with_quarantine=False)
        log_problems(reads.values())
        (read,) = reads.values()
        if read.problem:
            problem = f"The queue {read.name} cannot be read. Go back, and try again in a minute."
            return problem_page(problem, theme=request.theme, back=page_buttons.back())
        assessed = self._assessor.assess_all(read.letters)
        letters = [assessed[each] for each in read.letters]
        states = [QueueState(queues[0], read.waiting, letters, log_of(queues[0], self._stage))]
        overview = Overview(self._stage, now(), states, QuarantineState(0))
        return queue_page(overview, page_buttons, theme=request.theme)

    def _explained(self, request: WidgetRequest) -> str:
        user = request.value("user")
        if not USER_ID.fullmatch(user):
            return problem_page(_NO_USER, theme=request.theme)
        letters = self._letters()
        explanation = with_dead_letters(self._explain()(user, None), letters)
        (verdict, *tables) = sections(explanation)
        runs = [entry.run for entry in explanation.runs if entry.dead]
        is_open = any(not (e.dead or e.run.status.is_final) for e in explanation.runs)
        unread = letters.unread() if is_open else ""
        return answer_page(
            f"Reader {user}",
            [*(on_page(line) for (line,) in verdict.rows), *([unread] if unread else [])],
            [table for each in tables for table in _tables(each)],
            user=user,
            theme=request.theme,
            redrives=self._redrives([run.key for run in runs], request),
        )

    def _letters(self) -> LettersRead:
        """Return the dead letters of runs, up to MORE of each queue.

        Reads the queues as the first page does, so messages that were read recently are not read
        again.
        """
        queues = [dead for dead in self._known if dead.names_runs]
        reads = self._reader.read(queues, most=MORE, with_quarantine=False)
        log_problems(reads.values())
        partly = [
            (each.name, each.waiting, len(each.letters))
            for each in reads.values()
            if each.waiting is None or each.waiting > len(each.letters)
        ]
        letters = [letter for each in reads.values() for letter in each.letters]
        return LettersRead(oldest_by_run(letters), partly)

    def _redrives(self, runs: Sequence[RunKey], request: WidgetRequest) -> list[Html]:
        page_buttons = buttons(self._stage, request)
        return [
            page_buttons.plan(
                "Redrive…", about=f"run {run_id(key)}", queue=EVERY_QUEUE, run=run_id(key)
            )
            for key in runs
        ]

    def _receipt(self, request: WidgetRequest) -> str:
        user, event = request.value("user"), request.value("event")
        if not USER_ID.fullmatch(user):
            return problem_page(_NO_USER, theme=request.theme)
        if not 0 < len(event) <= _LONGEST_ID:
            return problem_page(_NO_EVENT, theme=request.theme)
        answer = receipt(user, event, context=self._receipts)
        lines = [*map(on_page, sentences(answer))]
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
            problem = f"The run does not exist. {remedies.gone(days)}"
            return problem_page(problem, theme=request.theme)
        letters, explanation = self._letters(), self._explain()(key.user_id, None)
        dead = letters.dead_run(key)
        words = words_of(run, dead=dead, is_off=explanation.is_off(key.schedule))
        unread = "" if dead or run.status.is_final else letters.unread()
        rows = [
            ("Reader", key.user_id),
            ("Status", run.status.value),
            ("Reason", run.reason.value),
            ("What to do", on_page(words.todo)),
            ("Due", moment(run.due_at)),
            *(
                (name, moment(at))
                for name, at in (
                    ("Created", run.created_at),
                    ("Claimed", run.claimed_at),
                    ("Sent", run.sent_at),
                    ("Next attempt", run.retry_at if run.status is Status.RETRYING else None),
                )
                if at
            ),
            ("Attempts", str(run.attempt)),
        ]
        return answer_page(
            f"Run {name}",
            [standing(run, words), *([unread] if unread else [])],
            [Section("Run", ("Field", "Value"), rows)],
            user=key.user_id,
            theme=request.theme,
            redrives=self._redrives([key], request) if dead else (),
        )


def _tables(section: Answer) -> Iterator[Section]:
    """Yield the tables of a section of an explanation.

    A run has too many columns for a pop-up, so each run is a table of names and values.
    """
    columns = [*map(sentence, section.columns)]
    if section.columns != RUN or not section.rows:
        rows = [[*map(on_page, row)] for row in section.rows]
        yield Section(sentence(section.name), columns, rows, section.nothing)
        return
    for row in section.rows:
        cells = [(name, on_page(cell)) for name, cell in zip(columns, row, strict=True) if cell]
        name = row[RUN.index("run")]
        yield Section(f"Run {name}", ("Field", "Value"), cells)
