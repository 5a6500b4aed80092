"""The support page and the commands give the same answers, in the same words.

Each kind of answer is taken from the code, so that a new one without a comparison fails here.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from gazette.adapters.aws.dead_letters import queues as sqs_queues
from gazette.adapters.aws.queues import decode_run_key, encode_run_key
from gazette.adapters.console.overview import EFFECTS
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.bootstrap.console import page, shared
from gazette.domain.console import remedies
from gazette.domain.dead_letters import KNOWN, Selection
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey
from gazette.domain.receipts.receipt import State
from gazette.domain.scheduling.calendar import slot_id, slot_of
from gazette.domain.scheduling.instants import moment
from gazette.settings.delivery import GenerateSettings
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings
from gazette.steps.delivery.types import WaitingFor
from gazette.steps.support.dead_letters import Forecast, Redrive
from gazette.steps.support.words.commands import on_page
from gazette.steps.support.words.phrases import sentence
from gazette.steps.support.words.sections import RUN
from typer.testing import CliRunner

from gazette_cli.dead_letters import command as dlq
from gazette_cli.explain import command as explaining
from gazette_cli.main import app
from gazette_cli.receipt import command as receipts
from tests.builders import NOW
from tests.explained import explained
from tests.functions.cli.test_dead_letters import Sqs
from tests.functions.conftest import Cloud, Context
from tests.functions.deployed import deploy
from tests.functions.failing import dead_letter, refused_to_the_end
from tests.functions.messages import envelope
from tests.functions.supporting import BODIES, Widget, a_message, button, put, stage_queues
from tests.receipt_stories import EVENT, STORIES, told
from tests.unit.console.pages import ARN, Parsed

DAY = timedelta(days=180)


@dataclass
class Tables(HTMLParser):
    """The cells of the tables of a page, by the caption, without their buttons and hints."""

    html: str

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: dict[str, list[list[str]]] = {}
        self._caption = ""
        self._inside: list[str] = []
        self.feed(self.html)

    def handle_starttag(self, tag: str, _: object) -> None:
        if tag == "input":
            return
        self._inside.append(tag)
        if tag == "tr" and "tbody" in self._inside:
            self.rows[self._caption].append([])
        if tag in {"th", "td"} and "tbody" in self._inside:
            self.rows[self._caption][-1].append("")
        if tag == "caption":
            self._caption = ""

    def handle_endtag(self, tag: str) -> None:
        self._inside.pop()
        if tag == "caption":
            self.rows[self._caption] = []

    def handle_data(self, data: str) -> None:
        if "caption" in self._inside:
            self._caption += data
        elif "tbody" in self._inside and not {"button", "cwdb-action", "span"} & {*self._inside}:
            self.rows[self._caption][-1][-1] += data

    def of(self, name: str) -> list[list[str]]:
        """The rows of the table whose caption begins with this name."""
        return next((rows for caption, rows in self.rows.items() if caption.startswith(name)), [])


@pytest.fixture
def sqs(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, later: None) -> Sqs:
    monkeypatch.setattr(Context, "invoked_function_arn", ARN)
    monkeypatch.setattr(sqs_queues, "POLL", 0)
    for name, kind in (
        ("ingest", IngestSettings),
        ("generate", GenerateSettings),
        ("feedback", FeedbackSettings),
    ):
        deploy(name, kind.from_env().to_env())
    return stage_queues(cloud)


@pytest.fixture
def widget(cloud: Cloud, sqs: Sqs) -> Widget:
    return Widget(cloud)


def command(cloud: Cloud, *arguments: str, answer: str | None = None, notes: bool = True) -> str:
    """The output of a command, with its notes and problems if `notes`."""
    with cloud.meter.acting("an operator"):
        result = CliRunner().invoke(app, [*arguments], input=answer)
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.output if notes else result.stdout


def documents(cloud: Cloud, name: str, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(command(cloud, *arguments, "--json", notes=False))[
        name
    ]
    return found


def letters(cloud: Cloud, widget: Widget, queue: str) -> list[tuple[str, str, str]]:
    """Each message with the effect and its reason, which command and page must state alike."""
    by_command = [
        (each["about"], EFFECTS[each["redrive"]], each["why"])
        for each in documents(cloud, "dead_letters", "dlq", "show", queue)
    ]
    shown = widget.press(button(widget.refresh(), do="messages", queue=queue))
    by_page = [(row[0], row[3]) for row in Tables(shown.html).of(queue)]
    assert sorted(by_page) == sorted(
        (about, f"{word}: {on_page(why)}") for about, word, why in by_command
    )
    return by_command


def runs() -> DynamoRuns:
    return DynamoRuns("runs", retention=DAY)


@pytest.mark.parametrize("body", ["ours", "foreign"])
@pytest.mark.parametrize("queue", [dead.name for dead in KNOWN])
def test_message_of_each_queue_is_described_alike(
    cloud: Cloud,
    sqs: Sqs,
    widget: Widget,
    monkeypatch: pytest.MonkeyPatch,
    queue: str,
    body: str,
) -> None:
    (dead,) = (each for each in KNOWN if each.name == queue)
    if dead.is_optional:
        monkeypatch.setenv("GAZETTE_CONTENT_SOURCES", '["events", "recommendations"]')
    if body == "foreign":
        content = "no message of ours " * 5
    elif dead.has_forecast:
        content = dead_letter(refused_to_the_end(a_message(cloud)))
    elif dead.names_runs:
        content = a_message(cloud)
    else:
        content = BODIES[dead.source] if dead.source else '{"time": "2026-11-22T06:10:00Z"}'
    put(cloud, sqs, queue, content)
    ((about, effect, _),) = letters(cloud, widget, queue)
    is_decoded = body == "ours" or dead.source == "ingest"
    assert about.startswith("not a Gazette message") != is_decoded
    assert (effect == "Fails again") != is_decoded


def a_run(message: str) -> Run:
    run = runs().get(decode_run_key(message))
    assert run
    return run


FORECASTS: Mapping[Redrive, Callable[[Run], Forecast]] = {
    Redrive.SENDS: lambda run: Forecast(Redrive.SENDS, run),
    Redrive.WAITS: lambda run: Forecast(Redrive.WAITS, run, WaitingFor.PERMIT, NOW),
    Redrive.ALREADY_SENT: lambda run: _with(Redrive.ALREADY_SENT, run, Status.SENT, "accepted"),
    Redrive.UNKNOWN: lambda run: _with(Redrive.UNKNOWN, run, Status.UNKNOWN, "uncertain"),
    Redrive.BEING_SENT: lambda run: _with(Redrive.BEING_SENT, run, Status.SENDING, "claimed"),
    Redrive.NOT_WANTED: lambda run: _with(Redrive.NOT_WANTED, run, Status.CANCELLED, "dormant"),
    Redrive.TOO_LATE: lambda run: _with(Redrive.TOO_LATE, run, Status.SKIPPED, "too_late"),
    Redrive.NO_SUCH_RUN: lambda _: Forecast(Redrive.NO_SUCH_RUN),
    Redrive.UNREADABLE: lambda _: Forecast(Redrive.UNREADABLE),
    Redrive.STARTS_NEXT: lambda run: Forecast(Redrive.STARTS_NEXT, run),
    Redrive.SENT_SINCE: lambda run: Forecast(Redrive.SENT_SINCE, run),
    Redrive.GOES_WITH: lambda run: Forecast(Redrive.GOES_WITH, run),
    Redrive.NO_SCHEDULE: lambda run: Forecast(Redrive.NO_SCHEDULE, run),
    Redrive.PAUSED: lambda run: Forecast(Redrive.PAUSED, run),
}
"""A forecast with each effect of a redrive."""


def _with(redrive: Redrive, run: Run, status: Status, reason: str) -> Forecast:
    return Forecast(redrive, replace(run, status=status, reason=Reason(reason)))


def forecasting(monkeypatch: pytest.MonkeyPatch, forecast: Forecast) -> None:
    """Let the command and the page read this forecast from the tables."""
    for module in (dlq, shared):
        monkeypatch.setattr(module, "build_forecast", lambda *_: lambda *_: forecast)


@pytest.mark.parametrize("redrive", Redrive)
def test_effect_of_a_redrive_is_stated_alike(
    cloud: Cloud, sqs: Sqs, widget: Widget, monkeypatch: pytest.MonkeyPatch, redrive: Redrive
) -> None:
    message = a_message(cloud)
    forecasting(monkeypatch, FORECASTS[redrive](a_run(message)))
    put(cloud, sqs, "failed", message)
    ((_, effect, why),) = letters(cloud, widget, "failed")
    assert effect == EFFECTS[redrive.value]
    assert why


@pytest.mark.long
@pytest.mark.parametrize("waiting_for", WaitingFor)
def test_reason_to_wait_is_stated_alike(
    cloud: Cloud, sqs: Sqs, widget: Widget, monkeypatch: pytest.MonkeyPatch, waiting_for: WaitingFor
) -> None:
    message = a_message(cloud)
    forecasting(monkeypatch, Forecast(Redrive.WAITS, a_run(message), waiting_for, NOW))
    put(cloud, sqs, "generate-dead", message)
    assert len({why for _, _, why in letters(cloud, widget, "generate-dead")}) == 1


@pytest.mark.long
@pytest.mark.parametrize("reason", Reason)
def test_reason_for_no_email_is_stated_alike(
    cloud: Cloud, sqs: Sqs, widget: Widget, monkeypatch: pytest.MonkeyPatch, reason: Reason
) -> None:
    message = a_message(cloud)
    run = replace(a_run(message), status=Status.CANCELLED, reason=reason, detail="Throttling")
    forecasting(monkeypatch, Forecast(Redrive.NOT_WANTED, run))
    put(cloud, sqs, "generate-dead", message)
    ((_, effect, why),) = letters(cloud, widget, "generate-dead")
    assert (effect, "(Throttling)" in why) == ("No email", True)


Chosen = tuple[dict[str, str], list[str]]
"""A selection: the parameters or fields of the page, and the arguments of the command."""

SELECTIONS: Mapping[str, Callable[[Run], Chosen]] = {
    "all": lambda _: ({"queue": "all"}, []),
    "queue": lambda _: ({"queue": "generate-dead"}, ["generate-dead"]),
    "run": lambda run: (
        {"queue": "all", "run": run_id(run.key)},
        ["--run", run_id(run.key)],
    ),
    "batch": lambda run: (
        {"selected-slot": slot_id(slot_of(run.due_at))},
        ["--batch", slot_id(slot_of(run.due_at))],
    ),
    "on": lambda run: (
        {"selected-date": f"{run.due_at.date()}"},
        ["--on", f"{run.due_at.date()}"],
    ),
}
"""Each way to select messages. The command has no option for a single message."""


def test_every_way_to_select_messages_is_compared() -> None:
    ways = {each.name for each in fields(Selection)} | {"all", "queue"}
    assert {*SELECTIONS, "message"} == ways


@pytest.fixture
def dead(cloud: Cloud, sqs: Sqs) -> str:
    """The message of a run that can be sent; a sent run and a missing one are dead letters too."""
    due, sent = a_message(cloud), a_message(cloud, "bo")
    cloud.work("generate", sent)
    missing = encode_run_key(RunKey("cy", "daily", 1))
    put(cloud, sqs, "generate-dead", due, due, sent, missing)
    put(cloud, sqs, "failed", dead_letter(refused_to_the_end(a_message(cloud, "di"))))
    put(cloud, sqs, "ingest-dead", *[envelope("event.created", {})] * 3)
    return due


@pytest.mark.parametrize("way", SELECTIONS)
def test_plan_counts_are_alike(cloud: Cloud, widget: Widget, dead: str, way: str) -> None:
    chosen, arguments = SELECTIONS[way](a_run(dead))
    if "queue" in chosen:
        plan = widget.call("support_redrive", {"do": "plan", **chosen})
    else:
        widget.fields = chosen
        plan = widget.press(button(widget.refresh(), by="form"))
    by_page = {
        row[0]: (int(row[3]), _numbers(row[4])) for row in Tables(plan.html).of("Effects of")
    }
    lines = command(cloud, "dlq", "redrive", *arguments, answer="n\n").splitlines()
    by_command = {}
    for line in lines:
        if line.startswith(("generate-dead: ", "failed: ", "ingest-dead: ")):
            queue, number, effects = line.split(": ", 2)
            words = [each.split(" ") for each in effects.split(", ") if effects[0].isdigit()]
            counts: Counter[str] = Counter()
            for times, word in words:
                counts[EFFECTS[word]] += int(times)
            by_command[queue] = (int(number), counts)
    assert by_page == by_command
    assert sum(number for number, _ in by_page.values()) > 0


def _numbers(effects: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for each in effects.split("; "):
        number, _, words = each.partition(" ")
        if number.isdigit():
            counts[words] += int(number)
    return counts


def test_plan_of_a_message_has_the_effect_that_the_command_shows(
    cloud: Cloud, widget: Widget, dead: str
) -> None:
    """A message with a run is redriven with the run. Only the page redrives a single message."""
    by_plan = {
        str(each.parameters): Tables(widget.press(each).html).of("Selected messages")
        for each in widget.refresh().actions
        if {"message", "run"} & each.parameters.keys()
    }
    by_page = Counter(tuple(row) for rows in by_plan.values() for row in rows)
    shown = documents(cloud, "dead_letters", "dlq", "show")
    assert by_page == Counter(
        (each["about"], each["queue"], EFFECTS[each["redrive"]], on_page(each["why"]))
        for each in shown
    )


def test_quarantine_names_the_wrong_fields_alike(cloud: Cloud, sqs: Sqs, widget: Widget) -> None:
    for number, kind in enumerate(("event.created", "subscriber.changed", "unknown")):
        cloud.work("ingest", envelope(kind, {"user_id": f"u{number}"}))
    for message in cloud.take("quarantine"):
        sqs.client.send_message(
            QueueUrl=sqs.urls["quarantine"],
            MessageBody=message["Body"],
            MessageAttributes={"reason": message["MessageAttributes"]["reason"]},
        )
    by_command = [
        (moment(datetime.fromisoformat(each["since"])), each["detail_type"], each["reason"])
        for each in documents(cloud, "events", "quarantine", "list")
    ]
    by_page = [tuple(row) for row in Tables(widget.refresh().html).of("quarantine:")]
    assert sorted(by_page) == sorted(by_command)
    assert len(by_command) == 3


@pytest.mark.parametrize("state", State)
def test_receipt_of_each_state_has_the_same_sentences(
    cloud: Cloud, widget: Widget, monkeypatch: pytest.MonkeyPatch, state: State
) -> None:
    _, receipt = told(state)
    for module in (receipts, page):
        monkeypatch.setattr(module, "receipt", lambda *_, **__: receipt)
    lines = command(cloud, "receipt", EVENT, "--user", "ann").splitlines()
    shown = widget.ask("receipt", user="ann", event=EVENT)
    answers = [on_page(line.partition("\t")[2]) for line in lines]
    assert shown.texts == [f"Event {EVENT} of ann", *answers]


@pytest.mark.parametrize("state", STORIES)
def test_explanation_of_each_story_has_the_same_cells(
    cloud: Cloud, widget: Widget, monkeypatch: pytest.MonkeyPatch, state: State
) -> None:
    world, _ = told(state)
    explanation = explained(world)
    for module in (explaining, page):
        monkeypatch.setattr(module, "build_explain", lambda *_: lambda *_: explanation)
    rows = [line.split("\t") for line in command(cloud, "explain", "ann").splitlines()]
    shown = widget.ask("explain", user="ann")
    verdict = [on_page(cells[1]) for cells in rows if cells[0] == "answer"]
    assert shown.texts[: len(verdict) + 1] == ["Reader ann", *verdict]
    by_page = [
        [caption.lower(), *cells]
        for caption, table in Tables(shown.html).rows.items()
        for cells in table
    ]
    assert by_page == [
        cells for row in rows if row[0] != "answer" for cells in _as_the_page_shows(row)
    ]
    assert "`gazette" not in shown.text


def _as_the_page_shows(row: list[str]) -> list[list[str]]:
    """The page shows a run as a table of names and values, without empty values."""
    name, *cells = map(on_page, row)
    if name != "run":
        return [[name, *cells]]
    run = cells[RUN.index("run")]
    named = zip(map(sentence, RUN), cells, strict=False)
    return [[f"run {run}", *each] for each in named if each[1]]


def test_run_is_described_alike(cloud: Cloud, widget: Widget) -> None:
    key = decode_run_key(message := a_message(cloud))
    cloud.work("generate", message)
    (row,) = documents(cloud, "found", "find", run_id(key))
    (run,) = documents(cloud, "runs", "explain", "ann")
    shown = widget.ask("run", run=run_id(key))
    assert {row[0]: row[1] for row in Tables(shown.html).of("Run")} == {
        "Reader": row["user_id"],
        "Status": row["status"],
        "Reason": row["reason"],
        "What to do": on_page(run["what_to_do"]),
        **{
            name: moment(datetime.fromisoformat(row[f"{name.lower()}_at"]))
            for name in ("Due", "Created", "Claimed", "Sent")
            if row[f"{name.lower()}_at"]
        },
        "Attempts": str(run["attempts"]),
    }
    assert shown.texts[1] == f"The run was sent: {run['meaning']}."


Problem = tuple[list[str], Callable[[Widget], Parsed], str]
"""The arguments of a command, the request to the page, and the remedy that both state."""


def _asking(question: str, **given: str) -> Callable[[Widget], Parsed]:
    return lambda widget: widget.ask(question, **given)


def _selecting(**given: str) -> Callable[[Widget], Parsed]:
    def select(widget: Widget) -> Parsed:
        widget.fields = given
        return widget.press(button(widget.refresh(), by="form"))

    return select


PROBLEMS: Mapping[str, Problem] = {
    "explain without a reader": (["explain", ""], _asking("explain"), remedies.USER),
    "explain an invalid reader": (
        ["explain", "a b"],
        _asking("explain", user="a b"),
        remedies.USER,
    ),
    "receipt of an invalid reader": (
        ["receipt", "e1", "--user", "a b"],
        _asking("receipt", user="a b", event="e1"),
        remedies.USER,
    ),
    "receipt without an event": (
        ["receipt", "", "--user", "ann"],
        _asking("receipt", user="ann"),
        remedies.EVENT,
    ),
    "a missing run": (
        ["find", "ann-daily-9"],
        _asking("run", run="ann-daily-9"),
        remedies.gone(200),
    ),
    "redrive an invalid run": (
        ["dlq", "redrive", "--run", "ann"],
        _selecting(**{"selected-run": "ann"}),
        remedies.RUN,
    ),
    "redrive an invalid slot": (
        ["dlq", "redrive", "--batch", "soon"],
        _selecting(**{"selected-slot": "soon"}),
        remedies.SLOT,
    ),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_problem_has_the_same_remedy(cloud: Cloud, widget: Widget, problem: str) -> None:
    arguments, ask, remedy = PROBLEMS[problem]
    assert remedy in command(cloud, *arguments)
    assert remedy in ask(widget).text


@pytest.mark.parametrize("question", ["explain", "receipt"])
def test_unknown_reader_and_event_have_the_same_answer(
    cloud: Cloud, widget: Widget, question: str
) -> None:
    arguments = {"explain": ["explain", "zoe"], "receipt": ["receipt", "e9", "--user", "zoe"]}
    lines = command(cloud, *arguments[question]).splitlines()
    shown = widget.ask(question, user="zoe", event="e9")
    answers = [
        on_page(line.split("\t")[1]) for line in lines if line.startswith(("answer\t", "zoe\t"))
    ]
    assert answers
    assert shown.texts[1 : len(answers) + 1] == answers


def test_every_question_of_the_page_is_compared(widget: Widget) -> None:
    questions = {each.parameters["do"] for each in widget.refresh().actions}
    assert questions == {"explain", "receipt", "run", "plan"}
    constants = {name for name in vars(remedies) if name.isupper()}
    used = {remedy for _, _, remedy in PROBLEMS.values()}
    assert {getattr(remedies, name) for name in constants} <= used
