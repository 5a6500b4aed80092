"""Erase a subscriber."""

from dataclasses import replace
from datetime import datetime

from gazette.domain.delivery.run import Reason
from gazette.domain.delivery.signals import Stop
from gazette.domain.identity import address_hash
from gazette.domain.outcome import Outcome
from gazette.domain.ports.stores import Suppressions
from gazette.domain.stored import readable
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus, was_erased
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.follows import forget_follow
from gazette.steps.runs import apply, cancel
from gazette.steps.subscribers.schedules import remove_schedules
from gazette.steps.subscribers.unsubscribe import settle_suppression


def erase_subscriber(
    user_id: str, at: datetime, *, suppressions: Suppressions, context: RoutingContext
) -> Outcome:
    """Delete everything of a subscriber except the instant and the suppression. Safe to repeat.

    A reader who unsubscribed may have another address since then: that is suppressed too. A
    suppressed reader's address was suppressed before, unless an operator has lifted that.
    The stop is written first, then the runs are cancelled, then everything else is deleted: a
    worker that did not see the stop takes its own writes back. If the reader has returned already,
    only what is dated `at` or before is deleted, and their runs are only made to read again.
    """
    reader = context.subscribers.get(user_id)
    if isinstance(reader, Subscriber) and reader.status is SubscriberStatus.UNSUBSCRIBED:
        suppressions.unsubscribe(address_hash(reader.email), user_id)
    before = {
        run.key for run in readable(context.runs.of_user(user_id)) if not run.key.is_immediate
    }
    erased = context.subscribers.erase(user_id, at)
    # One that was cut off continues.
    if not erased and not was_erased(context.subscribers.get(user_id), at):
        _end_links(user_id, at, context)
        if isinstance(reader, Subscriber):  # who may have started again since it was read
            settle_suppression(
                user_id,
                address_hash(reader.email),
                subscribers=context.subscribers,
                suppressions=suppressions,
            )
        return Outcome.OUTDATED
    for run in readable(context.runs.of_user(user_id)):
        if erased and run.key in before:
            cancel(run, Reason.ERASED, runs=context.runs)
        else:
            apply(run, Stop(), runs=context.runs)
    remove_schedules(user_id, at, context=context)
    came_back = isinstance(context.subscribers.get(user_id), Subscriber)
    until = at if came_back else None
    for entity in context.follows.followed_by(user_id):
        forget_follow(entity, user_id, until, context=context)
    context.events.erase(user_id, until)
    return Outcome.ERASED if erased else Outcome.OUTDATED


def _end_links(user_id: str, at: datetime, context: RoutingContext) -> None:
    """End the links from before an erasure that a later profile has overtaken."""
    for _ in ATTEMPTS:
        reader = context.subscribers.get(user_id)
        if not isinstance(reader, Subscriber):
            return
        if reader.addressed_after and reader.addressed_after >= at:
            return
        ended = replace(reader, addressed_after=at, revision=reader.revision + 1)
        if context.subscribers.put(ended, replacing=reader):
            return
    raise kept_changing(f"The profile of {user_id}")
