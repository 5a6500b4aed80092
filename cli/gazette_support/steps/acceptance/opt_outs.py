"""Show that bounces, complaints and unsubscriptions stop all email to a reader."""

from datetime import timedelta
from functools import partial

from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.identity import address_hash
from gazette.domain.links import LinkToken
from gazette.domain.receipts.receipt import Receipt, State
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause, Suppression

from gazette_support.domain.acceptance.readers import (
    AT_ONCE,
    CATEGORY,
    Role,
    SyntheticReader,
    event,
    event_id,
)
from gazette_support.domain.acceptance.rows import Failed, NotShown
from gazette_support.steps.acceptance.context import (
    AcceptanceContext,
    Work,
    email_of,
    wait_for,
)
from gazette_support.steps.acceptance.digest import outcomes_of
from gazette_support.steps.acceptance.publishing import INGESTED

REPORTED = timedelta(minutes=5)
"""The maximum time until a simulated bounce or complaint suppresses the address."""

BY_HAND = timedelta(minutes=15)
"""The time in which an operator clicks the link in their own mailbox."""

_NO_SIMULATOR = (
    "Only SES has a mailbox simulator. With SMTP, publish delivery.reported for a test email, and "
    "check `gazette suppression list` (docs/delivery-events.md)."
)
_OK = range(200, 300)


def show_bounce(work: Work, context: AcceptanceContext) -> str:
    """Wait for the suppression after a bounce. Raises Failed, or NotShown without a simulator."""
    return _suppressed(Role.BOUNCE, Cause.BOUNCED, EngagementEvent.BOUNCED, work, context)


def show_complaint(work: Work, context: AcceptanceContext) -> str:
    """Wait for the suppression after a complaint. Raises the errors of `show_bounce`."""
    return _suppressed(Role.COMPLAINT, Cause.COMPLAINED, EngagementEvent.COMPLAINED, work, context)


def _suppressed(
    role: Role, cause: Cause, reported: EngagementEvent, work: Work, context: AcceptanceContext
) -> str:
    if role not in work.readers:
        raise NotShown(_NO_SIMULATOR)
    reader = work.readers[role]

    def suppression() -> Suppression | None:
        stored = context.suppressions.get(address_hash(reader.email))
        is_stopped = _is(SubscriberStatus.SUPPRESSED, reader, context)
        return stored if stored and stored.cause is cause and is_stopped else None

    until = context.waiting.now() + REPORTED
    current = wait_for(suppression, until=until, waiting=context.waiting)
    if current is None:
        arrived = reported in outcomes_of(reader, work, context)
        what = "arrived" if arrived else "did not arrive"
        raise Failed(
            f"The address of {reader.user_id} is not suppressed. The delivery event `{reported}` "
            f"{what}. Check the feedback queue and the log of feedback."
        )
    return f"suppressed since {current.since:%H:%M:%S} UTC: {current.cause}"


def _is(status: SubscriberStatus, reader: SyntheticReader, context: AcceptanceContext) -> bool:
    subscriber = context.subscribers.get(reader.user_id)
    return isinstance(subscriber, Subscriber) and subscriber.status is status


def show_one_click(work: Work, context: AcceptanceContext) -> str:
    """Unsubscribe through the link of a sent email. Raises Failed, or NotShown without the key."""
    reader = work.readers[Role.LEAVES]
    unsubscribed = partial(_unsubscribed, reader, context)
    if work.is_clicked_by_hand:
        until = context.waiting.now() + BY_HAND
        if wait_for(unsubscribed, until=until, waiting=context.waiting) is None:
            raise Failed(
                f"{reader.user_id} is not unsubscribed. Click the link that ends all email, at the "
                f"end of the digest to the address in --to, within {BY_HAND.seconds // 60} minutes."
            )
        return "unsubscribed by the link in the email"
    run = email_of(reader, event_id(work.acceptance, "digest"), context)
    subscriber = context.subscribers.get(reader.user_id)
    if run is None or not isinstance(subscriber, Subscriber):
        raise Failed(f"The email of {reader.user_id} no longer exists.")
    link = context.one_click.link(LinkToken.of(run.key, run.due_at, subscriber))
    was_stopped = unsubscribed() is not None
    opened = context.one_click.open(link)
    if opened not in _OK:
        raise Failed(f"Opening the unsubscribe link returned the status {opened or 'none'}.")
    if not was_stopped and unsubscribed() is not None:
        raise Failed("Opening the link unsubscribed the reader, so link scanners would, too.")
    clicked = context.one_click.click(link)
    if clicked not in _OK:
        raise Failed(f"The one-click request returned the status {clicked or 'none'}.")
    until = context.waiting.now() + INGESTED
    if wait_for(unsubscribed, until=until, waiting=context.waiting) is None:
        raise Failed(
            f"The one-click request returned the status {clicked}, but {reader.user_id} is not "
            "unsubscribed."
        )
    return f"status {opened} for opening, {clicked} for one click; the reader is unsubscribed"


def _unsubscribed(reader: SyntheticReader, context: AcceptanceContext) -> bool | None:
    return _is(SubscriberStatus.UNSUBSCRIBED, reader, context) or None


def show_opt_outs(work: Work, context: AcceptanceContext) -> str:
    """Publish further events for stopped readers. Raises Failed if one of them is stored.

    An event for another reader, in the same list, shows that the list was processed. It waits for a
    digest that is never sent, because the reader is erased.
    """
    if not work.stopped:
        raise NotShown("No reader was stopped by a bounce, a complaint or an unsubscription.")
    identity, now = event_id(work.acceptance, "after"), context.clock()
    stopped = [work.readers[role] for role in sorted(work.stopped)]
    control = work.readers[Role.OK]
    context.publish(
        "event.created",
        [
            *(
                event(each, identity, category=AT_ONCE, url=context.url, now=now)
                for each in stopped
            ),
            event(control, identity, category=CATEGORY, url=context.url, now=now),
        ],
    )

    def processed() -> Receipt | None:
        receipt = context.receipt(control.user_id, identity)
        return receipt if receipt.state is not State.NOT_STORED else None

    until = context.waiting.now() + INGESTED
    if wait_for(processed, until=until, waiting=context.waiting) is None:
        raise Failed("The events are not processed. Check the ingest queue and its log.")
    for reader in stopped:
        state = context.receipt(reader.user_id, identity).state
        if state is not State.NOT_STORED:
            raise Failed(f"An event for {reader.user_id} is stored after the opt-out: {state}.")
    return f"no event is stored for {', '.join(each.user_id for each in stopped)}"
