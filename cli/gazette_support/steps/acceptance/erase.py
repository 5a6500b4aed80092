"""Remove everything that an acceptance left in a stage and at the mail provider."""

from datetime import timedelta

from gazette.domain.identity import address_hash
from gazette.domain.stored import is_known
from gazette.domain.subscribers.subscriber import Erased

from gazette_support.domain.acceptance.readers import CATEGORIES, SyntheticReader, event_id
from gazette_support.domain.acceptance.rows import Failed
from gazette_support.steps.acceptance.context import AcceptanceContext, Work, wait_for
from gazette_support.steps.sending import resume_category

_ERASED = timedelta(minutes=3)


def erase(work: Work, context: AcceptanceContext) -> str:
    """Erase the readers, then lift the suppressions, the holds and the counts. Safe to repeat.

    Raises Failed if a reader is not erased or an address is still suppressed.
    """
    context.quarantine.take(event_id(work.acceptance, "invalid"))
    now = context.clock()
    context.publish(
        "subscriber.deleted",
        [
            {"user_id": each.user_id, "deleted_at": now.isoformat()}
            for each in work.readers.values()
        ],
    )
    until = context.waiting.now() + _ERASED
    for reader in work.readers.values():

        def erased(reader: SyntheticReader = reader) -> bool | None:
            return isinstance(context.subscribers.get(reader.user_id), Erased) or None

        if wait_for(erased, until=until, waiting=context.waiting) is None:
            raise Failed(f"{reader.user_id} is not erased. Check the ingest queue and its log.")
    for reader in work.readers.values():
        _lift(reader, context)
    for category in CATEGORIES:
        if not resume_category(
            category, holds=context.holds, category_stats=context.category_stats
        ):
            context.category_stats.forget(category)
    return (
        f"{len(work.readers)} readers are erased; no address is suppressed"
        f"{'' if context.provider_list else ' in Gazette'}"
    )


def _lift(reader: SyntheticReader, context: AcceptanceContext) -> None:
    """Lift the suppression of an address, in Gazette and at the provider.

    If a reader with the address has also unsubscribed, the first lift leaves that cause.
    """
    address = address_hash(reader.email)
    for _ in range(2):
        suppression = context.suppressions.get(address)
        if suppression is None or not is_known(suppression.cause):
            break
        context.bounces.forget(suppression.address)
        context.suppressions.lift(suppression.address, suppression.cause)
    if context.suppressions.get(address):
        raise Failed(
            f"{reader.email} is still suppressed. Run `gazette suppression remove {reader.email}`."
        )
    if context.provider_list and reader.is_simulated:
        context.provider_list.forget(reader.email)
