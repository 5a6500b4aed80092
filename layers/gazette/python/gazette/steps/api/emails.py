"""Answer which emails a reader got. Makes no writes."""

from gazette.domain.api.answers import EmailPage, ReaderEmail
from gazette.domain.delivery.run import Reason
from gazette.domain.ports.api import RunPages
from gazette.domain.ports.receipts import EmailOutcomes
from gazette.domain.ports.stores import Subscribers


def list_emails(
    user_id: str,
    *,
    schedule: str = "",
    before: str = "",
    limit: int,
    subscribers: Subscribers,
    runs: RunPages,
    engagements: EmailOutcomes,
) -> EmailPage:
    """Return a page of a reader's emails, including emails that were not sent.

    Emails are ordered by schedule, and newest first within a schedule. Two kinds of runs are left
    out, so a page may have fewer emails than `limit`: those that were never started, because no
    events waited, and those from before an erasure, because the user id may have belonged to
    another person. `before` is the `next` of the previous page. Costs one GetItem, one Query, and
    one BatchGetItem if there are emails.
    """
    reader = subscribers.get(user_id)
    erased_at = reader.erased_at if reader else None
    rows, place = runs.page(user_id, schedule=schedule, before=before, limit=limit)
    emails = [
        run
        for run in rows
        if run.reason is not Reason.NOTHING_WAITED and (not erased_at or run.due_at > erased_at)
    ]
    reported = engagements.of_runs(emails) if emails else {}
    page = tuple(
        ReaderEmail(run, reported[run.key].first if run.key in reported else {}) for run in emails
    )
    return EmailPage(page, place)
