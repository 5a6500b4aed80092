"""Content of the support page, and a parser of its HTML."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from html.parser import HTMLParser

from gazette.adapters.aws.dead_letters.quarantine import Quarantined
from gazette.adapters.console.buttons import Buttons
from gazette.adapters.console.values import Assessed, Overview, QuarantineState, QueueState
from gazette.bootstrap.console.shared import query_of
from gazette.domain.dead_letters import KNOWN, DeadLetter, DeadQueue
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey

from tests.builders import NOW

ARN = "arn:aws:lambda:us-east-1:123456789012:function:gazette-prod-support:live"
REDRIVE_ARN = ARN.replace("support", "support_redrive")
BUTTONS = Buttons(looking=ARN, redriving=REDRIVE_ARN)
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e"


def queue(name: str) -> DeadQueue:
    """The dead-letter queue with this name."""
    return next(dead for dead in KNOWN if dead.name == name)


def a_letter(name: str = "generate-dead", number: int = 1, about: str = "") -> DeadLetter:
    key = RunKey("ann", "daily", number) if queue(name).names_runs and not about else None
    about = about or (run_id(key) if key else "event.created")
    return DeadLetter(queue(name), about, NOW - timedelta(hours=3), 16, key, id=f"m{number}")


def assessed(letter: DeadLetter, effect: str = "sends", why: str = "it is sent now") -> Assessed:
    state, query = "The run failed: the provider rejected the email.", query_of(letter)
    return Assessed(letter, state, query, effect, why)


def an_overview(*states: QueueState, quarantine: QuarantineState | None = None) -> Overview:
    """All queues, which are empty except these."""
    given = {state.dead.name: state for state in states}
    each = [given.get(dead.name, QueueState(dead, 0)) for dead in KNOWN]
    return Overview("prod", NOW, each, quarantine or QuarantineState(0))


def a_quarantine(reason: str = "user_id: must not be empty") -> QuarantineState:
    return QuarantineState(1, [Quarantined(NOW - timedelta(days=2), "event.created", reason)])


@dataclass
class Action:
    """A `cwdb-action` with the element before it."""

    before: str
    attributes: dict[str, str]
    content: str = ""

    @property
    def parameters(self) -> dict[str, str]:
        return dict(json.loads(self.content))


@dataclass
class Parsed(HTMLParser):
    """The tags, actions and texts of HTML."""

    html: str
    tags: list[str] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str]] = field(default_factory=list)
    closed: str = ""
    inside: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = {name: value or "" for name, value in attrs}
        self.attributes += given.items()
        if tag == "cwdb-action":
            self.actions.append(Action(self.closed, given))
        self.inside, self.closed = tag, ""

    def handle_endtag(self, tag: str) -> None:
        self.closed, self.inside = tag, ""

    def handle_data(self, data: str) -> None:
        if self.inside == "cwdb-action":
            self.actions[-1].content += data
        elif self.inside != "style":
            self.texts.append(data)
            self.closed = self.closed if not data.strip() else ""

    @property
    def text(self) -> str:
        return " ".join(self.texts)
