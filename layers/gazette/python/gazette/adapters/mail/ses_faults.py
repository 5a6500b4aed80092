"""What bounces and complaints of Amazon SES say against an address."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gazette.domain.errors import InvalidEvent
from gazette.domain.feedback.delivery_events import DeliveryEventType, Fault
from gazette.domain.identity import address_hash

_BY_BOUNCE = {"Permanent": Fault.HARD, "Transient": Fault.SOFT}
_OF_MESSAGE = {"MessageTooLarge", "ContentRejected", "AttachmentRejected"}
_PERHAPS_REPLIES = {"Transient General", "Undetermined Undetermined"}
_OWN_LIST = "OnAccountSuppressionList"
_NOT_TRIED = {_OWN_LIST, "Suppressed"}
_OF_STATUS = ("action", "status", "diagnosticCode")
_BY_POLICY = re.compile(r"(?<![\w.])[45]\.7\.[0-9]{1,3}(?!\w|\.[0-9])")
_MOST_READ = 2000
"""Characters of a `status` or `diagnosticCode`: four lines of an SMTP reply, RFC 5321 section
4.5.3.1.5."""
_NO_COMPLAINTS = {"not-spam", "auth-failure"}
_NAME = re.compile(r"[A-Za-z-]{1,40}")


@dataclass(frozen=True, slots=True)
class Accused:
    """What is said against the address with a hash, and how SES calls it.

    `unsent`, `is_by_policy`: as in DeliveryEvent.
    """

    fault: Fault
    address: str
    cause: str
    unsent: bool
    is_by_policy: bool = False


def accused(
    kind: DeliveryEventType, record: Mapping[str, Any], mail: Mapping[str, Any]
) -> Accused | None:
    """Whom the record of a bounce or complaint speaks against; None where against nobody.

    Permanent bounces are hard, also where SES did not try because the address is on a list of
    its own. Of the transient ones, which SES reports once it has given up, those subtypes that
    another message may not meet speak against the message. A type that is not known here is
    undetermined.

    What a mailbox provider refuses by policy (DMARC, spam, block lists) speaks against the message
    too, whatever the type says: x.7.x is "security or policy status", and says nothing about the
    mailbox (RFC 3463, section 3.8). SES did not try what is on a list of its own, so nobody
    refused that.
    https://www.iana.org/assignments/smtp-enhanced-status-codes

    An automatic reply of a reader who is away comes as a bounce as well, `Transient General` or
    undetermined, though the email arrived; SES does not count it either. It is told by what it
    lacks: a bounce has a delivery status notification (RFC 3464), of which SES gives the fields.
    https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounce-types

    Of complaints, `not-spam` corrects one, and `auth-failure` is about signatures: a machine says
    so, of whoever signed. Without a type, as of mailbox providers that say no more, and where SES
    did not send because of an earlier one (`OnAccountSuppressionList`), it is a complaint.

    The address is the one that was written to: Gazette writes to one. Those of the bounced are
    the Final-Recipient of a notification, so perhaps where a reader's email is forwarded to; they
    count where `mail.destination` does not say. Of complaints, mailbox providers mostly redact it.
    https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html

    Raises InvalidEvent where it names no address, or more than one.
    """
    if kind is DeliveryEventType.BOUNCED:
        said = _about(record, "bounce")
        fault = _BY_BOUNCE.get(str(said.get("bounceType")), Fault.UNDETERMINED)
        if fault is Fault.SOFT and str(said.get("bounceSubType")) in _OF_MESSAGE:
            fault = Fault.OF_MESSAGE
        subtype = said.get("bounceSubType")
        cause = _cause(said.get("bounceType"), subtype)
        if cause in _PERHAPS_REPLIES and not _has_status(said):
            return None
        by_policy = str(subtype) not in _NOT_TRIED and _is_by_policy(said)
        if by_policy:
            fault = Fault.OF_MESSAGE
        address = _written_to(mail, said, "bouncedRecipients")
        return Accused(fault, address, cause, subtype == _OWN_LIST, by_policy)
    if kind is DeliveryEventType.COMPLAINED:
        said = _about(record, "complaint")
        names = (said.get("complaintFeedbackType"), said.get("complaintSubType"))
        if str(names[0]) in _NO_COMPLAINTS:
            return None
        address = _written_to(mail, said, "complainedRecipients")
        return Accused(Fault.COMPLAINT, address, _cause(*names), names[1] == _OWN_LIST)
    return None


def _has_status(bounce: Mapping[str, Any]) -> bool:
    """Whether the bounce came with a delivery status notification."""
    return "reportingMTA" in bounce or any(
        name in each for each in _recipients(bounce) for name in _OF_STATUS
    )


def _is_by_policy(bounce: Mapping[str, Any]) -> bool:
    """Whether a status code of class x.7.x is given, as 5.7.26 in `smtp; 550-5.7.26 …`.

    Anywhere in `diagnosticCode`, because `status` is often the coarser of the two, such as 5.0.0.
    It is the text of whoever refused: the pattern takes time that grows with its length alone.
    https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounced-recipients
    """
    said = [each.get(name) for each in _recipients(bounce) for name in ("status", "diagnosticCode")]
    return any(isinstance(text, str) and _BY_POLICY.search(text[:_MOST_READ]) for text in said)


def _recipients(bounce: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = bounce.get("bouncedRecipients")
    listed = given if isinstance(given, list) else []
    return [each for each in listed if isinstance(each, dict)]


def _about(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    said = record.get(name)
    if not isinstance(said, dict):
        raise InvalidEvent(f"{name} of an event of SES must be an object: it says whom it is about")
    return said


def _written_to(mail: Mapping[str, Any], said: Mapping[str, Any], recipients: str) -> str:
    """The hash of the one address that the message went to."""
    named = _texts(mail.get("destination"))
    if not named:
        given = said.get(recipients)
        listed = given if isinstance(given, list) else []
        named = _texts([each.get("emailAddress") for each in listed if isinstance(each, dict)])
    hashes = {address_hash(address) for address in named}
    if len(hashes) != 1:
        raise InvalidEvent(
            f"mail.destination and {recipients} of an event of SES name {len(hashes)} addresses: "
            "a message of Gazette goes to one"
        )
    return hashes.pop()


def _texts(given: Any) -> list[str]:
    listed = given if isinstance(given, list) else []
    return [each for each in listed if isinstance(each, str) and each.strip()]


def _cause(*names: Any) -> str:
    """Type and subtype, such as `Permanent NoEmail`; nothing that could be an address."""
    return " ".join(name for name in names if isinstance(name, str) and _NAME.fullmatch(name))
