"""Show that a redriven message of a sent email sends no second email."""

from datetime import timedelta

from gazette_support.domain.acceptance.readers import event_id
from gazette_support.domain.acceptance.rows import Failed
from gazette_support.steps.acceptance.context import (
    AcceptanceContext,
    Work,
    email_of,
    wait_for,
)
from gazette_support.steps.acceptance.digest import check_one_message_each

_PROCESSED = timedelta(minutes=5)


def show_redrive(work: Work, context: AcceptanceContext) -> str:
    """Redrive a message of the digest that was sent. Raises Failed, or NotShown without the log."""
    reader, identity = work.in_digest[0], event_id(work.acceptance, "digest")
    before = email_of(reader, identity, context)
    if before is None:
        raise Failed(f"The email of {reader.user_id} no longer exists.")
    ended = context.log.endings(before.key, work.began_at)
    if not context.dead_letters.redrive(before.key):
        raise Failed("The message did not arrive in the queue generate-dead.")

    def processed() -> bool | None:
        return context.log.endings(before.key, work.began_at) > ended or None

    until = context.waiting.now() + _PROCESSED
    if wait_for(processed, until=until, waiting=context.waiting) is None:
        raise Failed(
            "The log of generate does not show that the redriven message was processed. Check the "
            "generate queue."
        )
    after = email_of(reader, identity, context)
    if after != before:
        raise Failed(f"The redrive changed the email of {reader.user_id}. Run `gazette explain`.")
    check_one_message_each([(before, reader)], work, context)
    return f"the run is already sent, in attempt {before.attempt}; no second message"
