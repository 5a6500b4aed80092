"""Resubscribe a reader who unsubscribed. Only the reader can do this."""

from collections.abc import Callable
from dataclasses import replace

from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import ScheduleContext
from gazette.steps.subscribers.schedules import is_active, set_schedules, withdraw_if_left
from gazette.steps.subscribers.suppress import stop_if_suppressed
from gazette.steps.subscribers.unsubscribe import is_at, settle_suppression


def resubscribe(
    user_id: str,
    address: str,
    *,
    suppressions: Suppressions,
    context: ScheduleContext,
    is_meant: Callable[[Subscriber], bool],
) -> bool:
    """Resume email to a reader who unsubscribed. The address is given as a hash.

    Safe to repeat. `is_meant` returns True if the stored unsubscription is the one to undo. If a
    later unsubscription is stored, nothing changes. Returns False in that case, if the address
    belongs to no such reader, or if the address stays suppressed. Readers cannot lift suppressions
    after bounces, complaints, or unsubscriptions of other readers of the address. The schedules are
    added to the due index before the status changes, because after a crash no other process would
    add them. They are written again afterwards, because fan-out may be withdrawing schedules that
    it read while the reader was unsubscribed.
    """
    for number in ATTEMPTS:
        reader = context.subscribers.get(user_id)
        if not isinstance(reader, Subscriber) or not is_at(reader, address):
            return False
        if not is_meant(reader):
            if number:  # the reader has unsubscribed again, and that suppression was lifted here
                settle_suppression(
                    user_id, address, subscribers=context.subscribers, suppressions=suppressions
                )
            return False
        suppressions.resubscribe(address, user_id)
        if suppressions.holds(address):
            settle_suppression(
                user_id, address, subscribers=context.subscribers, suppressions=suppressions
            )
            return False
        context.subscribers.mark_active(user_id, context.clock().date())
        back = replace(
            reader, status=SubscriberStatus.ACTIVE, left_at=None, revision=reader.revision + 1
        )
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
            )
    raise kept_changing(f"The profile of {user_id}")
