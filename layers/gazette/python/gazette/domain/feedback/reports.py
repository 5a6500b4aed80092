"""Delivery reports of any mail provider, and the proof that a report belongs to a sent email. Pure.

An email that Gazette sends by SMTP carries a reference: the run, the attempt, the time of sending,
and a proof. The proof is a keyed hash that also covers the recipient's address and the
installation. So a report can be checked without reading a row, and only someone who has the email,
or its headers, can report on it.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from gazette.domain.commands import AHEAD
from gazette.domain.errors import InvalidReport
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType, Fault
from gazette.domain.identity import parse_run_id, run_id
from gazette.domain.model import RunKey

REFERENCE_HEADER = "X-Gazette-Reference"
"""The header of an email that contains its reference. The local part of Message-ID is the same."""

REFERENCE = r"[A-Za-z0-9_]{1,192}-[a-z0-9]{1,24}-[0-9]{1,10}\.[0-9]{1,9}\.[0-9]{1,11}\.[0-9a-f]{32}"
"""The pattern of a reference: a run id, an attempt, seconds since 1970, and a proof."""

_PURPOSE = b"delivery reports"
"""The purpose of the derived key. No address hash has this form, so the hashes never coincide."""

_PROOF_LENGTH = 32
"""The length of a proof in hex digits, which is 128 bits."""

_STATUS = re.compile(r"[245]\.([0-9]{1,3})\.([0-9]{1,3})")
_SECURITY_OR_POLICY = 7
_CONTENT = 6
_TOO_LONG = {(2, 3), (3, 4)}
"""The subject and detail of the codes for a message that is too long or too big (RFC 3463)."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference of an email. `proof` has not been checked."""

    run: RunKey
    attempt: int
    sent_at: datetime
    proof: str

    def __str__(self) -> str:
        """Return the reference as the email carries it."""
        sent_at = int(self.sent_at.timestamp())
        return f"{run_id(self.run)}.{self.attempt}.{sent_at}.{self.proof}"


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """A `delivery.reported` message: what a service reports about an email. Not proven yet."""

    reference: Reference
    type: DeliveryEventType
    at: datetime
    recipient: str
    """The unkeyed hash of the recipient's address."""

    is_permanent: bool = False
    """True if the address will never accept email. Only for a bounce."""

    status: str = ""
    """The enhanced status code of a bounce (RFC 3463); empty if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prover:
    """The key and the installation with which references are made and checked."""

    key: bytes
    """The installation's key for hashes of addresses, from which a key of its own is derived."""

    installation: str

    def reference(self, run: RunKey, attempt: int, sent_at: datetime, recipient: str) -> Reference:
        """Return the reference of an email to the address with the hash `recipient`."""
        unproven = Reference(run, attempt, sent_at.replace(microsecond=0), "")
        return replace(unproven, proof=self._proof(unproven, recipient))

    def is_proven(self, reference: Reference, recipient: str) -> bool:
        """Return True if this installation sent the email, and sent it to this address."""
        return hmac.compare_digest(self._proof(reference, recipient), reference.proof)

    def _proof(self, reference: Reference, recipient: str) -> str:
        own = hmac.new(self.key, _PURPOSE, hashlib.sha256).digest()
        named = str(replace(reference, proof=""))
        text = f"{self.installation} {named} {recipient}"
        return hmac.new(own, text.encode(), hashlib.sha256).hexdigest()[:_PROOF_LENGTH]


def read_reference(text: str) -> Reference:
    """Return the reference in `text`, which may also be the email's Message-ID.

    Raises ValueError.
    """
    local = text.strip("<>").partition("@")[0]
    if not re.fullmatch(REFERENCE, local):
        raise ValueError(f"must be the value of the header {REFERENCE_HEADER}")
    named, attempt, sent_at, proof = local.split(".")
    return Reference(
        parse_run_id(named), int(attempt), datetime.fromtimestamp(int(sent_at), UTC), proof
    )


def event_of(report: DeliveryReport, *, prover: Prover, now: datetime) -> DeliveryEvent:
    """Return the delivery event that a report proves.

    The time of sending comes from the reference, so the service cannot choose it. An event before
    that time has the time of sending, because the provider's clock may be slow.

    Raises InvalidReport if the reference does not belong to an email that this installation sent to
    the recipient, or if the event lies in the future.
    """
    reference = report.reference
    if not prover.is_proven(reference, report.recipient):
        raise InvalidReport(
            "detail.reference: was not made for this recipient by this stage. Publish the "
            f"reference unchanged, as in the email's {REFERENCE_HEADER} or Message-ID, with the "
            "address to which the email was sent, and only in the stage that sent the email."
        )
    if problem := from_the_future_at(report.at, now):
        raise InvalidReport(problem)
    is_by_policy, fault = _fault(report)
    return DeliveryEvent(
        type=report.type,
        run=reference.run,
        attempt=reference.attempt,
        message_id=message_id(reference.run, reference.attempt),
        sent_at=reference.sent_at,
        at=max(report.at, reference.sent_at),
        fault=fault,
        address=report.recipient if fault else "",
        cause=" ".join(filter(None, (report.type, fault, report.status))) if fault else "",
        is_by_policy=is_by_policy,
        is_reported=True,
    )


def from_the_future_at(at: datetime, now: datetime) -> str:
    """Return an error text if a report is dated too far in the future, else an empty string."""
    if at - now <= AHEAD:
        return ""
    return (
        "detail.at: is more than an hour ahead of now. Check the clock of the service that "
        "published the event."
    )


def message_id(run: RunKey, attempt: int) -> str:
    """Return the message id of a reported email, which names the attempt.

    The id in the server's reply differs from the ids in most providers' delivery events.
    """
    return f"{run_id(run)}.{attempt}"


def reported_ids(run: RunKey, attempts: int) -> frozenset[str]:
    """Return the message ids that delivery reports give the emails of a run."""
    return frozenset(message_id(run, attempt + 1) for attempt in range(attempts))


def _fault(report: DeliveryReport) -> tuple[bool, Fault | None]:
    """Return whether the receiver rejected the sender by policy, and the fault of the address.

    The codes of RFC 3463 say which bounces an address did not cause: X.7.X is a "security or policy
    status", X.6.X concerns the content, X.2.3 and X.3.4 the length of the message.
    https://www.rfc-editor.org/rfc/rfc3463#section-3
    """
    if report.type is DeliveryEventType.COMPLAINED:
        return False, Fault.COMPLAINT
    if report.type is not DeliveryEventType.BOUNCED:
        return False, None
    if code := _STATUS.fullmatch(report.status):
        subject, detail = int(code[1]), int(code[2])
        if subject == _SECURITY_OR_POLICY:
            return True, Fault.OF_MESSAGE
        if subject == _CONTENT or (subject, detail) in _TOO_LONG:
            return False, Fault.OF_MESSAGE
    return False, Fault.HARD if report.is_permanent else Fault.SOFT
