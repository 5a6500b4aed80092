"""A visit, a withdrawal and an event that cannot be shown concern one event of a happening
(rule 30)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import permutations, product

import pytest
from gazette.domain.commands import RetractEvent
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.run import Status
from gazette.domain.delivery.signals import Uncertain
from gazette.domain.errors import RenderingFailed
from gazette.domain.happening.bodies import alone
from gazette.domain.model import Edition, StoredEvent
from gazette.domain.ports.rendering import Links
from gazette.domain.receipts.receipt import State
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.withdrawing.withdrawals import WithdrawalKind

from gazette_support.steps.withdrawals import WithdrawalContext, remove_withdrawal
from tests.builders import NOW, an_event
from tests.fakes import FakeRenderer
from tests.receipts import receipt_of
from tests.unit.routing.test_happening import IMMEDIATE, OFTEN, a_world, sent, the_row
from tests.world import World, crashes, interleavings

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
MENTION = replace(
    an_event("c1", category="mention", actor="Mallory", occurred_at=NOW - 2 * MINUTE), own_id="m1"
)
COMMENT = an_event("c1", category="comment", actor="Bo", occurred_at=NOW)
REPLY = replace(an_event("c1", category="reply", actor="Cy", occurred_at=NOW), own_id="r1")
Act = Callable[[World], object]


@dataclass
class RendererWithoutMentions(FakeRenderer):
    """A renderer whose templates cannot show a mention."""

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
        due_at: datetime | None = None,
        is_first: bool = False,
    ) -> Edition:
        if "mention" in digest.categories:
            raise RenderingFailed("the template has no data")
        return super().render(digest, subscriber, links, schedule)


def see(world: World) -> object:
    return world.see(at=NOW - MINUTE)


def withdraw(world: World) -> object:
    return world.withdraw(actor="mallory")


def break_templates(world: World) -> object:
    world.renderer = RendererWithoutMentions()
    return None


def mention(world: World) -> object:
    return world.create(MENTION)


def comment(world: World) -> object:
    return world.create(COMMENT)


def reply(world: World) -> object:
    return world.create(REPLY)


JUDGEMENTS = (see, withdraw, break_templates)
STATES = {see: State.SEEN, withdraw: State.WITHDRAWN, break_templates: State.EXCLUDED}


def waiting(
    judge: Act, mentions: Frequency = IMMEDIATE, comments: Frequency = Frequency.DAILY
) -> World:
    world = a_world(mentions, comments)
    mention(world)
    comment(world)
    judge(world)
    return world


def due(judge: Act, mentions: Frequency, comments: Frequency) -> World:
    """A world in which the run of the row is due, and its message is lost."""
    world = waiting(judge, mentions, comments)
    world.clock.pass_time(minutes=2)
    if not the_row(world).is_immediate:
        schedule = world.schedules.rows["ann", the_row(world).schedule]
        world.clock.now = schedule.next_due_at + 2 * MINUTE
        world.fan_out(slot_of(schedule.next_due_at))
    world.collect_everything()
    world.generate_queue.sent.clear()
    return world


def work(world: World) -> None:
    """Deliver every run that has not ended."""
    for run in list(world.runs.rows.values()):
        if not run.status.is_final:
            world.generate(run.key)


def finish(world: World) -> None:
    """Sweep and deliver until nothing waits, for more than two weeks."""
    world.recover()
    for _ in range(2):
        world.clock.pass_time(days=7)
        world.send_everything()


@pytest.mark.parametrize("judge", JUDGEMENTS)
@pytest.mark.parametrize(("mentions", "comments"), list(product(OFTEN, OFTEN)))
@pytest.mark.parametrize("acts", list(permutations((mention, comment))))
def test_comment_is_sent_where_it_would_be_without_the_mention(
    judge: Act, mentions: Frequency, comments: Frequency, acts: Sequence[Act]
) -> None:
    world = a_world(mentions, comments)
    for act in (*acts, judge):
        act(world)
    world.send_everything()
    finish(world)
    (run,) = [run for run in world.runs.rows.values() if run.status is Status.SENT]
    assert set(run.categories) == {"comment"}
    assert run.key.is_immediate == (comments is IMMEDIATE)
    assert run.key.is_immediate or run.key.schedule == comments


@pytest.mark.parametrize("judge", JUDGEMENTS)
def test_event_that_was_left_out_keeps_its_reason(judge: Act) -> None:
    world = waiting(judge)
    finish(world)
    row = world.events.rows["ann", "m1"]
    assert isinstance(row, StoredEvent)
    assert (row.schedule, row.event) == (Unsent.EXCLUDED, alone(MENTION))
    receipt = receipt_of(world, "m1")
    assert (receipt.state, receipt.emails) == (STATES[judge], ())
    assert receipt_of(world, "c1").state is State.EMAILED


@pytest.mark.parametrize("judge", JUDGEMENTS)
def test_repetition_of_the_message_is_not_sent(judge: Act) -> None:
    world = waiting(judge)
    finish(world)
    mention(world)
    comment(world)
    finish(world)
    assert sent(world) == ["comment"]


def let_again(world: World) -> None:
    """Undo the withdrawal, the templates' fault, and the visit as far as later events go."""
    context = WithdrawalContext(store=world.withdrawals, applies_for=DAY, clock=world.clock)
    remove_withdrawal(WithdrawalKind.ACTOR, "mallory", context=context)
    world.renderer = FakeRenderer()
    later = world.clock()
    world.create(replace(MENTION, occurred_at=later, amended_at=later))


@pytest.mark.parametrize("judge", JUDGEMENTS)
def test_mention_that_is_published_again_after_the_comment_was_sent_is_not_sent(judge: Act) -> None:
    world = waiting(judge)
    finish(world)
    let_again(world)
    finish(world)
    assert sent(world) == ["comment"]
    assert receipt_of(world, "m1").shown_as == "c1"


@pytest.mark.parametrize("judge", JUDGEMENTS)
def test_mention_that_is_published_again_before_the_comment_is_sent_is_sent(judge: Act) -> None:
    world = due(judge, IMMEDIATE, Frequency.WEEKLY)
    work(world)
    assert the_row(world).event == COMMENT
    let_again(world)
    finish(world)
    assert sent(world) == ["mention"]


@pytest.mark.parametrize("mentions", OFTEN)
def test_row_is_left_out_if_no_event_may_be_shown(mentions: Frequency) -> None:
    world = waiting(lambda world: world.see(at=NOW), mentions)
    finish(world)
    assert sent(world) == []
    row = the_row(world)
    assert (row.schedule, row.seen_at) == (Unsent.EXCLUDED, NOW)


@pytest.mark.parametrize("comments", OFTEN)
def test_event_that_arrives_after_the_others_were_left_out_is_sent(comments: Frequency) -> None:
    world = a_world(IMMEDIATE, comments)
    mention(world)
    world.create(replace(REPLY, occurred_at=NOW - 2 * MINUTE))
    see(world)
    finish(world)
    assert the_row(world).schedule == Unsent.EXCLUDED
    comment(world)
    finish(world)
    assert sent(world) == ["comment"]


def test_events_are_left_out_for_different_reasons() -> None:
    world = a_world()
    world.create(replace(MENTION, occurred_at=NOW), COMMENT, replace(REPLY, occurred_at=NOW - DAY))
    withdraw(world)
    see(world)
    world.withdraw(actor="bo")
    finish(world)
    assert sent(world) == []


def test_row_that_may_have_been_sent_is_given_up_as_a_whole() -> None:
    world = due(lambda _: None, IMMEDIATE, Frequency.DAILY)
    world.mailer.script.append(Uncertain(1, "no answer"))
    work(world)
    withdraw(world)
    finish(world)
    assert world.emails() == []
    assert the_row(world).schedule == Unsent.GIVEN_UP
    assert receipt_of(world, "c1").state is receipt_of(world, "m1").state is State.GIVEN_UP


SOON_AND_LATE = ((IMMEDIATE, Frequency.DAILY), (Frequency.DAILY, IMMEDIATE), (Frequency.DAILY,) * 2)


@pytest.mark.parametrize("judge", JUDGEMENTS)
@pytest.mark.parametrize(("mentions", "comments"), SOON_AND_LATE)
def test_no_event_is_lost_and_none_is_sent_twice_if_the_worker_dies(
    judge: Act, mentions: Frequency, comments: Frequency
) -> None:
    for world, where in crashes(partial(due, judge, mentions, comments), work):
        finish(world)
        (run,) = [run for run in world.runs.rows.values() if run.status is Status.SENT]
        assert set(run.categories) == {"comment"}, where
        assert 1 <= len(world.emails()) <= 1 + len(run.uncertain), where


def retract_mention(world: World) -> object:
    return world.say(RetractEvent("ann", "m1"))


@pytest.mark.parametrize("judge", JUDGEMENTS)
@pytest.mark.parametrize("other", [reply, comment, mention, retract_mention, work])
@pytest.mark.parametrize(("mentions", "comments"), SOON_AND_LATE)
def test_no_event_is_lost_and_none_is_sent_twice_if_another_worker_comes_between(
    judge: Act, other: Act, mentions: Frequency, comments: Frequency
) -> None:
    for world, where in interleavings(partial(due, judge, mentions, comments), work, other):
        finish(world)
        assert len(sent(world)) == 1, where
        assert sent(world)[0] in {"comment", "reply"}, where


@pytest.mark.parametrize("judge", JUDGEMENTS)
def test_event_that_joins_a_row_while_it_is_left_out_is_sent(judge: Act) -> None:
    """Only the mention is stored when the worker reads its window."""

    def with_a_mention() -> World:
        world = a_world()
        mention(world)
        judge(world)
        world.clock.pass_time(minutes=2)
        return world

    for world, where in interleavings(with_a_mention, work, comment):
        finish(world)
        assert sent(world) == ["comment"], where
