"""Answer which emails a reader got. Makes no writes."""

from gazette.domain.api.answers import EmailPage, ReaderEmail
from gazette.domain.delivery.run import Reason
from gazette.domain.ports.api import RunPages
from gazette.domain.ports.receipts import EmailOutcomes


def list_emails(
    user_id: str,
    *,
    schedule: str = "",
    before: str = "",
    limit: int,
    runs: RunPages,
    engagements: EmailOutcomes,
) -> EmailPage:
    """Return a page of a reader's emails, including emails that were not sent.

    Emails are ordered by schedule, and newest first within a schedule. A run that was never
    started, because no events waited, is not an email, so a page may have fewer emails than
    `limit`. `before` is the `next` of the previous page. Costs one Query, and one BatchGetItem if
    there are emails.
    """
    rows, place = runs.page(user_id, schedule=schedule, before=before, limit=limit)
    emails = [run for run in rows if run.reason is not Reason.NOTHING_WAITED]
    reported = engagements.of_runs(emails) if emails else {}
    page = tuple(
        ReaderEmail(run, reported[run.key].first if run.key in reported else {}) for run in emails
    )
    return EmailPage(page, place)
