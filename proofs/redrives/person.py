"""A person who redrives all queues, while invocations are killed, and what must be true then."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from gazette.domain.identity import run_id
from gazette.domain.model import StoredEvent

from proofs.redrives.letters import dead_letters
from proofs.redrives.stage import DEAD, Stage, on_fakes
from tests.unit.console.pages import Action, Parsed

_MOST_PLANS = 200
_BROKEN = 20
"""One of so many messages fails again until its cause is fixed."""

_ORDERS_UNTIL_FIXED = 3


@dataclass
class Report:
    """The figures of an outage, and the promises that were broken."""

    letters: int = 0
    runs_due: int = 0
    emails: int = 0
    presses: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    returned: int = 0
    expired: int = 0
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return the figures in one line."""
        kills = ", ".join(f"{number} {where}" for where, number in sorted(self.kills.items()))
        return (
            f"letters={self.letters} due={self.runs_due} emails={self.emails} "
            f"presses={self.presses} repeated={self.repeated} returned={self.returned} "
            f"expired={self.expired} kills=({kills}) violations={len(self.broken)}"
        )


def redrive_all(runs: int, seed: int) -> Report:
    """Redrive the dead letters of an outage, and return what happened."""
    random = Random(seed)
    letters = dead_letters(runs, random)
    stage = Stage(letters, random)
    report = Report(letters=letters.number, runs_due=len(letters.due))
    with on_fakes(stage):
        _Person(stage, random, report).redrive()
    report.returned = stage.returned
    _judge(stage, report)
    return report


class _Person:
    def __init__(self, stage: Stage, random: Random, report: Report) -> None:
        self._stage = stage
        self._random = random
        self._report = report

        # The sends that the current order permits: each message once, and once more for each kill
        # between its send and its delete.
        self._allowed: Counter[str] = Counter()
        self._sent: Counter[str] = Counter()

        # The messages that the current order selects.
        self._ids: set[str] = set()

    def redrive(self) -> None:
        """Redrive until the first page says that all queues are empty."""
        stage, bodies = self._stage, sorted(self._stage.dead_messages())
        stage.broken = {*self._random.sample(bodies, len(bodies) // _BROKEN)}
        for number in range(_MOST_PLANS):
            if number == _ORDERS_UNTIL_FIXED:
                stage.broken = set()
            if self._refresh().texts[0] == "All queues are empty":
                stage.drain()
                if not stage.dead_messages():
                    return
            if order := self._plan():
                self._carry_out(order)
            stage.drain()
        self._report.broken.append("the queues are not empty")

    def _refresh(self) -> Parsed:
        """Return the first page. A refresh must not move a message."""
        page = self._stage.invoke("support", {})
        assert page
        self._must_not_move("a refresh")
        return page

    def _plan(self) -> Action | None:
        plan = self._stage.invoke("support_redrive", {"do": "plan", "queue": "all"})
        assert plan
        self._must_not_move("a plan")
        self._begin()
        return _button(plan)

    def _begin(self) -> None:
        """Remember the messages that a new order selects."""
        self._allowed, self._sent = Counter(self._stage.dead_messages()), Counter()
        self._ids = self._stage.dead_ids()
        self._pause(5)

    def _carry_out(self, order: Action) -> None:
        """Press the button, press it again, or press Continue, and drain the queues between."""
        goes_on = True
        while goes_on:
            answer = self._press(order)
            self._pause(self._random.choice([1, 30, 130]))
            if self._random.random() < 0.5:
                self._stage.drain()
            if self._random.random() < 0.3:
                self._refresh()
            following = _button(answer) if answer else None
            goes_on = answer is None or following is not None or self._random.random() < 0.5
            if following and self._random.random() < 0.7:
                order = following
            elif goes_on:
                self._report.repeated += 1
            if self._random.random() < 0.1:
                return

    def _press(self, order: Action) -> Parsed | None:
        stage, random = self._stage, self._random
        if random.random() < 0.6:
            stage.kill_at = random.randint(1, 2 + self._report.letters // 10)
            stage.kills_before = random.random() < 0.5
        before = stage.dead_messages()
        answer = stage.invoke("support_redrive", order.parameters)
        self._report.presses += 1
        self._sent += stage.moved
        if answer is None:
            self._record_kill(before)
        else:
            self._check_words(answer)
        for body, times in (self._sent - self._allowed).items():
            self._report.broken.append(f"an order sent {times} more of {body}")
        return answer

    def _check_words(self, answer: Parsed) -> None:
        """Check the number of moved messages, and that an end without a remark is the end."""
        words = next(each for each in answer.texts if " moved" in each)
        if "The button expired" in words:
            self._must_not_move("an expired order")
            self._report.expired += 1
            self._begin()
            return
        if not words.startswith(f"{self._stage.moved.total():,} of "):
            self._report.broken.append(f"the page is wrong: {words}")
        if words.endswith(" moved.") and self._ids & self._stage.dead_ids():
            self._report.broken.append(f"the page does not mention the others: {words}")

    def _record_kill(self, before: dict[str, int]) -> None:
        """Allow one more send of the message whose send was not followed by its delete."""
        stage = self._stage
        gone = Counter(before) - Counter(stage.dead_messages())
        self._allowed += stage.moved - gone
        between = stage.moved.total() - gone.total()
        self._report.kills["between send and delete" if between else "between messages"] += 1
        if gone - stage.moved:
            self._report.broken.append("a message was deleted before it was sent")

    def _must_not_move(self, what: str) -> None:
        if self._stage.moved or self._stage.deleted:
            self._report.broken.append(f"{what} moved a message")

    def _pause(self, seconds: float) -> None:
        self._stage.world.clock.pass_time(seconds=seconds)


def _button(page: Parsed) -> Action | None:
    """Return the button that redrives, or None."""
    return next((each for each in page.actions if each.parameters.get("do") == "redrive"), None)


def _judge(stage: Stage, report: Report) -> None:
    """Check that each due run has one email, that no other has one, and that no message is lost."""
    world, letters = stage.world, stage.letters
    for _ in range(10):
        world.deliver_queued()
    emails = Counter(dict(mail.tags)["run"] for mail, _ in world.mailer.accepted)
    report.emails = emails.total()
    due = Counter({run_id(key): number for key, number in letters.due.items()})
    report.broken += [f"{run} has no email" for run in due - emails]
    report.broken += [f"{run} has too many emails" for run in emails - due]
    bodies = {body for each in letters.by_queue.values() for body in each}
    report.broken += [f"{body} was not processed" for body in bodies if not stage.processed[body]]
    report.broken += [
        f"{dead.name} is not empty"
        for dead in DEAD
        if stage.sqs.queues[f"gazette-prod-{dead.name}"]
    ]
    stored = {
        key
        for key, row in world.events.rows.items()
        if isinstance(row, StoredEvent) and key[0].startswith("w")
    }
    report.broken += [f"{key} is not stored once" for key in stored ^ letters.stored]
