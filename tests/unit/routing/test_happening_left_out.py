"""A visit, a withdrawal and an event that cannot be shown concern one event of a happening
(rule 30)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import permutations, product

import pytest
from gazette.domain.commands import CreateActivity, RetractEvent
from gazette.domain.delivery.run import Status
from gazette.domain.delivery.signals import Uncertain
from gazette.domain.errors import Unavailable
from gazette.domain.happening.bodies import LeftOut, alone
from gazette.domain.model import Event, RunKey, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.receipts.receipt import State
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.withdrawing.withdrawals import WithdrawalKind
from gazette.steps.delivery.deliver import deliver
from gazette.steps.routing.happening import leave_out_bodies
from gazette.steps.support.dry_run import dry_run

from gazette_support.steps.withdrawals import WithdrawalContext, remove_withdrawal
from tests.builders import NOW, an_activity, an_event
from tests.fakes import FakeRenderer
from tests.receipts import receipt_of
from tests.unit.delivery.test_edition import Choking
from tests.unit.routing.test_happening import IMMEDIATE, NEVER, OFTEN, a_world, sent, the_row
from tests.world import World, crashes, interleavings

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
MENTION = replace(
    an_event(
        "c1", category="mention", actor="Mallory", excerpt="mention", occurred_at=NOW - 2 * MINUTE
    ),
    own_id="m1",
)
COMMENT = an_activity("c1", category="comment", actor="Bo", occurred_at=NOW)
ADDRESSED = an_event("c1", category="comment", actor="Bo", occurred_at=NOW)
REPLY = replace(an_event("c1", category="reply", actor="Cy", occurred_at=NOW), own_id="r1")
Act = Callable[[World], object]


def see(world: World) -> object:
    return world.see(at=NOW - MINUTE)


def withdraw(world: World) -> object:
    return world.withdraw(actor="mallory")


def break_templates(world: World) -> object:
    world.renderer = Choking({"mention", "amended"})
    return None


def mention(world: World) -> object:
    return world.create(MENTION)


def comment(world: World) -> object:
    return world.say(CreateActivity(COMMENT))


def reply(world: World) -> object:
    return world.create(REPLY)


JUDGEMENTS = (see, withdraw, break_templates)
STATES: Mapping[Act, State] = dict(
    zip(JUDGEMENTS, (State.SEEN, State.WITHDRAWN, State.EXCLUDED), strict=True)
)


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


def undo(world: World) -> None:
    """Undo the withdrawal and the fault of the templates."""
    context = WithdrawalContext(store=world.withdrawals, applies_for=DAY, clock=world.clock)
    remove_withdrawal(WithdrawalKind.ACTOR, "mallory", context=context)
    world.renderer = FakeRenderer()


def let_again(world: World) -> None:
    """Undo the withdrawal and the fault, and publish the mention again, later than the visit."""
    undo(world)
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
    assert the_row(world).event.category == "comment"
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


def test_event_at_the_id_of_the_activity_is_left_out_without_the_mention() -> None:
    """It has no id of its own, so its reason is not stored."""
    world = a_world(IMMEDIATE, IMMEDIATE)
    world.create(replace(ADDRESSED, actor=MENTION.actor), replace(MENTION, actor=ADDRESSED.actor))
    assert the_row(world).event.own_id == ""
    withdraw(world)
    finish(world)
    assert sent(world) == ["mention"]
    assert receipt_of(world, "c1").state is State.NOT_STORED


def test_events_are_left_out_for_different_reasons() -> None:
    world = a_world()
    world.create(
        replace(MENTION, occurred_at=NOW), ADDRESSED, replace(REPLY, occurred_at=NOW - DAY)
    )
    withdraw(world)
    see(world)
    world.withdraw(actor="bo")
    finish(world)
    assert sent(world) == []


@pytest.mark.parametrize("judge", JUDGEMENTS)
@pytest.mark.parametrize("comments", [IMMEDIATE, Frequency.DAILY, NEVER])
def test_row_that_may_have_been_sent_shows_another_event_when_it_is_sent_again(
    judge: Act, comments: Frequency
) -> None:
    """It keeps both events, because the first attempt may contain them."""
    world = due(lambda _: None, IMMEDIATE, Frequency.DAILY)
    world.mailer.script.append(Uncertain(1, "no answer"))
    work(world)
    world.choose(at=NOW + timedelta(seconds=1), comment=comments, mention=IMMEDIATE)
    judge(world)
    finish(world)
    assert sent(world) == ["comment"]
    assert {body.category for body in the_row(world).bodies} == {"comment", "mention"}


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


def test_worker_that_has_read_the_mention_cannot_send_it() -> None:
    """It has the list of withdrawals of a minute ago. Another worker leaves the mention out."""
    world = due(lambda _: None, Frequency.DAILY, Frequency.DAILY)
    decisions = world.decisions()

    def withdraw_and_work() -> None:
        withdraw(world)
        work(world)

    with world.meanwhile("rate_limiter.reserve", withdraw_and_work):
        context = replace(world.delivery_context(), decisions=lambda: decisions)
        deliver(RunKey("ann", "daily", 1), lambda: MINUTE, context=context)
    finish(world)
    assert sent(world) == ["comment"]
    assert receipt_of(world, "m1").state is State.WITHDRAWN


def test_worker_that_dies_after_it_left_the_mention_out_lets_no_other_send_it() -> None:
    """The other worker has the list of withdrawals of a minute ago, and waits for a permit."""
    decisions = World().decisions()

    def both(world: World) -> None:
        waits = True

        def around(name: str, call: Callable[[], object]) -> object:
            nonlocal waits
            if waits and name == "rate_limiter.reserve":
                waits = False
                withdraw(world)
                with suppress(Unavailable):
                    work(world)
            return call()

        with world.watched(around):
            context = replace(world.delivery_context(), decisions=lambda: decisions)
            deliver(RunKey("ann", "daily", 1), lambda: MINUTE, context=context)

    for world, where in crashes(
        partial(due, lambda _: None, Frequency.DAILY, Frequency.DAILY), both
    ):
        finish(world)
        shown = {each for run in world.runs.rows.values() for each in run.categories}
        is_left_out = isinstance(world.events.rows["ann", "m1"], StoredEvent)
        assert shown == ({"comment"} if is_left_out else {"mention"}), where


def leave_out(world: World, event: Event = MENTION) -> bool:
    return leave_out_bodies([LeftOut(event, withdrawn_at=NOW)], context=world.context)


def test_mention_that_is_being_sent_is_not_left_out() -> None:
    world = waiting(lambda _: None)
    world.send_everything()
    rows = dict(world.events.rows)
    assert not leave_out(world)
    assert world.events.rows == rows


def test_mention_that_is_amended_in_between_is_judged_again() -> None:
    world = waiting(lambda _: None)
    amended = replace(MENTION, excerpt="amended", amended_at=NOW)
    world.create(amended)
    rows = dict(world.events.rows)
    assert not leave_out(world)
    assert world.events.rows == rows
    assert leave_out(world, amended)
    assert [body.category for body in the_row(world).bodies] == ["comment"]


def test_mention_that_is_amended_in_between_stays_when_the_reply_is_left_out() -> None:
    world = waiting(lambda _: None)
    reply(world)
    world.create(replace(MENTION, excerpt="amended", amended_at=NOW))
    pointer = world.events.rows["ann", "m1"]
    removed = [LeftOut(each, withdrawn_at=NOW) for each in (MENTION, REPLY)]
    assert leave_out_bodies(removed, context=world.context)
    assert {body.category for body in the_row(world).bodies} == {"comment", "mention"}
    assert world.events.rows["ann", "m1"] == pointer


def test_mention_whose_retraction_was_interrupted_is_left_out() -> None:
    """The pointer is the mark of the retraction already, and the row has the mention still."""
    world = waiting(withdraw)
    world.events.retract("ann", "m1", early=False)
    finish(world)
    assert sent(world) == ["comment"]
    retract_mention(world)
    assert receipt_of(world, "m1").state is State.RETRACTED


def test_repetition_of_a_seen_mention_costs_no_write() -> None:
    world = waiting(see)
    finish(world)
    rows = dict(world.events.rows)
    assert mention(world) == [Outcome.DUPLICATE]
    assert world.events.rows == rows


@pytest.mark.parametrize("judge", JUDGEMENTS)
@pytest.mark.parametrize("how", ["alone", "lapses"])
def test_amendment_of_a_mention_that_was_left_out_is_not_in_a_second_email(
    judge: Act, how: str
) -> None:
    """Without `part_of`, or with an end, as an amendment before it was left out."""
    world = waiting(judge)
    finish(world)
    later = world.clock()
    amended = replace(MENTION, occurred_at=later, amended_at=later)
    undo(world)
    world.create(alone(amended) if how == "alone" else replace(amended, expires_at=later + DAY))
    finish(world)
    assert sent(world) == ["comment"]


@pytest.mark.parametrize("judge", [withdraw, break_templates])
def test_repetition_of_an_older_message_does_not_bring_back_its_content(judge: Act) -> None:
    world = a_world(IMMEDIATE, Frequency.WEEKLY)
    mention(world)
    comment(world)
    amended = replace(MENTION, excerpt="amended", amended_at=NOW)
    world.create(amended)
    judge(world)
    world.clock.pass_time(minutes=2)
    for _ in range(2):
        work(world)
    assert the_row(world).event.category == "comment"
    undo(world)
    mention(world)
    assert the_row(world).event == amended


@pytest.mark.parametrize("judge", JUDGEMENTS)
def test_mention_that_arrives_while_an_outcome_is_unknown_does_not_give_up_the_comment(
    judge: Act,
) -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    comment(world)
    judge(world)
    world.clock.pass_time(minutes=2)
    world.mailer.script.append(Uncertain(1, "no answer"))
    work(world)
    world.clock.pass_time(minutes=1)
    mention(world)
    finish(world)
    assert sent(world) == ["comment"]


@pytest.mark.parametrize("judge", JUDGEMENTS)
def test_comment_waits_for_a_reader_who_returns(judge: Act) -> None:
    world = due(judge, IMMEDIATE, Frequency.DAILY)
    world.unsubscribe()
    work(world)
    assert the_row(world).bodies[0].category == "comment"
    assert {body.category for body in the_row(world).bodies} == {"comment", "mention"}


def test_forecast_of_a_digest_that_leaves_one_event_out() -> None:
    world = due(withdraw, Frequency.DAILY, Frequency.DAILY)
    world.create(an_event("other", category="comment", entity_id="other"))
    forecast = dry_run(RunKey("ann", "daily", 1), context=world.dry_run_context())
    assert forecast
    assert forecast.would_send


def test_receipt_of_an_activity_that_was_retracted_first_names_no_email() -> None:
    world = a_world()
    world.say(RetractEvent("ann", "c1"))
    world.clock.pass_time(minutes=5)
    mention(world)
    world.clock.pass_time(minutes=5)
    finish(world)
    assert sent(world) == ["mention"]
    receipt = receipt_of(world, "c1")
    assert (receipt.state, receipt.emails) == (State.RETRACTED, ())
