"""The reference in an email, by which a mail provider's delivery events name the email."""

from datetime import datetime

from gazette.domain.feedback.reports import Prover
from gazette.domain.identity import address_hash, parse_run_id
from gazette.domain.model import Mail


def reference_in(mail: Mail, attempt: int, *, prover: Prover, sent_at: datetime) -> str:
    """Return the reference of an email, or an empty text for an email without a run."""
    try:
        run = parse_run_id(dict(mail.tags).get("run", ""))
    except ValueError:
        return ""
    return str(prover.reference(run, attempt, sent_at, address_hash(mail.to)))
