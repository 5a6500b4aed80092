"""A reader who left comes back, by their own hand and no other."""

from dataclasses import replace

from gazette.domain.identity import address_hash
from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import ScheduleContext
from gazette.steps.subscribers.schedules import is_active, set_schedules, withdraw_if_left
from gazette.steps.subscribers.suppress import stop_if_suppressed
from gazette.steps.subscribers.unsubscribe import settle_suppression


def come_back(user_id: str, *, suppressions: Suppressions, context: ScheduleContext) -> bool:
    """Send email to a reader again who had unsubscribed. Safe to repeat.

    False where there is nobody, or where the address must not be written to for any other reason:
    a bounce or a complaint is not theirs to take back. The schedules are in the due index before
    the status says so, because nothing would bring them there after a crash; and are written once
    more after it, because fan-out may have been taking out what it saw of somebody who left.
    """
    for _ in ATTEMPTS:
        reader = context.subscribers.get(user_id)
        if not isinstance(reader, Subscriber):
            return False
        address = address_hash(reader.email)
        suppressions.lift(address, Cause.UNSUBSCRIBED)
        if suppressions.holds(address):
            return False
        context.subscribers.mark_active(user_id, context.clock().date())
        back = replace(reader, status=SubscriberStatus.ACTIVE, revision=reader.revision + 1)
        set_schedules(back, context=context)
        is_back = context.subscribers.put(back, replacing=reader)
        if is_back:
            set_schedules(back, context=context, resumes=True)
        withdraw_if_left(user_id, context=context)
        if is_back:
            now = settle_suppression(
                user_id, address, subscribers=context.subscribers, suppressions=suppressions
            )
            return is_active(now) and not stop_if_suppressed(
                now,
                suppressions=suppressions,
                subscribers=context.subscribers,
                schedules=context.schedules,
                runs=context.runs,
            )
    raise kept_changing(f"The profile of {user_id}")
