"""Resubscribe a reader who unsubscribed, at their own request or on a consent."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gazette.domain.identity import address_hash
from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus, just_after
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import ScheduleContext
from gazette.steps.subscribers.schedules import (
    is_active,
    set_schedules,
    withdraw,
    withdraw_if_left,
)
from gazette.steps.subscribers.suppress import stop_if_suppressed
from gazette.steps.subscribers.unsubscribe import is_at, settle_suppression

if TYPE_CHECKING:
    from gazette.domain.subscribers.consent import Consent


def resubscribe(
    user_id: str,
    address: str,
    *,
    suppressions: Suppressions,
    context: ScheduleContext,
    is_meant: Callable[[Subscriber], bool],
    consent: "Consent | None" = None,
) -> bool:
    """Resume email to a reader who unsubscribed. The address is given as a hash.

    Safe to repeat. `is_meant` returns True if the stored unsubscription is the one to undo. If a
    later unsubscription is stored, or the reader unsubscribes again in the meantime, nothing
    changes. With a `consent`, only unsubscriptions before it are lifted, and its date counts as the
    reader's activity. Returns False if nothing changed, if the address belongs to no such reader,
    or if the address stays suppressed. Neither lifts suppressions
    after bounces, complaints, or unsubscriptions of other readers of the address. The schedules are
    added to the due index before the status changes, because after a crash no other process would
    add them. They are written again afterwards, because fan-out may be withdrawing schedules that
    it read while the reader was unsubscribed.
    """
    settle = partial(
        settle_suppression,
        user_id,
        address,
        subscribers=context.subscribers,
        suppressions=suppressions,
    )
    start = context.clock()
    first: Subscriber | None = None
    for number in ATTEMPTS:
        reader = context.subscribers.get(user_id)
        if not isinstance(reader, Subscriber) or not is_at(reader, address):
            return False
        first = first or reader
        before = consent.counts_from(reader) if consent else None
        until = before or just_after(max(start, reader.last_left_at or start))
        # A repeated unsubscription changes only its time, because the status is the same.
        if not is_meant(reader) or (reader.has_left and reader.last_left_at != first.last_left_at):
            if number:  # the reader has unsubscribed again, and that suppression was lifted here
                settle(before=until)
            return False
        suppressions.resubscribe(address, user_id, before=before)
        if suppressions.holds(address):
            settle(before=until)
            return False
        context.subscribers.mark_active(user_id, (before or context.clock()).date())
        back = consent.recorded_in(reader.back()) if consent else reader.back()
        set_schedules(back, context=context)
        is_back = context.subscribers.put(back, replacing=reader)
        if is_back:
            set_schedules(back, context=context, resumes=True)
        withdraw_if_left(user_id, context=context)
        if is_back:
            now = settle(before=until)
            if not suppressions.holds(address):
                return is_active(now)
            if reader.has_left:
                _restore(reader, context=context)
                settle(before=until)
            else:
                stop_if_suppressed(
                    now,
                    suppressions=suppressions,
                    subscribers=context.subscribers,
                    schedules=context.schedules,
                )
            return False
    raise kept_changing(f"The profile of {user_id}")


def _restore(first: Subscriber, *, context: ScheduleContext) -> None:
    """Store a reader's stop again, because the address was suppressed during the return.

    Another reader of the address unsubscribed, or an email bounced. `first` is the reader before
    the return. An unsubscribed reader must stay unsubscribed, because a suppression ends with a
    change of address. Raises NotYet if the profile keeps changing.
    """
    for _ in ATTEMPTS:
        now = context.subscribers.get(first.user_id)
        if not isinstance(now, Subscriber) or not is_at(now, address_hash(first.email)):
            return
        if now.status in {first.status, SubscriberStatus.UNSUBSCRIBED}:
            break
        stopped = replace(
            now,
            status=first.status,
            left_at=first.left_at,
            left_again_at=first.left_again_at,
            revision=now.revision + 1,
        )
        if context.subscribers.put(stopped, replacing=now):
            break
    else:
        raise kept_changing(f"The profile of {first.user_id}")
    withdraw(first.user_id, subscribers=context.subscribers, schedules=context.schedules)
