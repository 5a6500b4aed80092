"""Detection of the address at fault in an Amazon SES bounce or complaint, and of the kind of
fault.
"""

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
"""The maximum number of characters that are read from a `status` or `diagnosticCode`. The limit
equals the length of an SMTP reply of four lines (RFC 5321, section 4.5.3.1.5).
"""
_NO_COMPLAINTS = {"not-spam", "auth-failure"}
_NAME = re.compile(r"[A-Za-z-]{1,40}")


@dataclass(frozen=True, slots=True)
class AddressFault:
    """A problem with a recipient's address.

    `unsent` and `is_by_policy` have the same meaning as in DeliveryEvent.
    """

    fault: Fault
    address: str
    """The hash of the address."""

    cause: str
    """SES's name for the cause."""

    unsent: bool
    is_by_policy: bool = False


def address_fault(
    kind: DeliveryEventType, record: Mapping[str, Any], mail: Mapping[str, Any]
) -> AddressFault | None:
    """Return the address at fault in a bounce or complaint record, or None if no address is at
    fault.

    Permanent bounces are hard bounces, even if SES did not attempt delivery because the address is
    on one of its suppression lists. SES reports a transient bounce after its last retry. Subtypes
    that depend on the message are not the address's fault. An unknown type counts as undetermined.

    A refusal by the mailbox provider's policy (DMARC, spam, block lists) is not the address's fault
    either, whatever the bounce type. Status x.7.x means "security or policy status" and does not
    describe the mailbox (RFC 3463, section 3.8). If the address is on a suppression list, SES did
    not attempt delivery, so no provider refused the message.
    https://www.iana.org/assignments/smtp-enhanced-status-codes

    An out-of-office reply is also reported as a bounce (`Transient General` or undetermined),
    although the email arrived; SES does not count it either. Such a record lacks the fields of a
    delivery status notification (RFC 3464), which SES adds to real bounces.
    https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounce-types

    Two types of complaints do not count: `not-spam` withdraws a complaint, and `auth-failure` is an
    automatic report about signatures. A complaint without a type counts, because some mailbox
    providers do not specify a type. A complaint that SES reports instead of sending, because of an
    earlier complaint, also counts (`OnAccountSuppressionList`).

    The address is taken from `mail.destination`, because Gazette sends each message to one address.
    The record's recipients are taken from the notification's Final-Recipient, which may be a
    forwarding address. They are used only if `mail.destination` is missing. Most mailbox providers
    redact the address in complaints.
    https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html

    Raises InvalidEvent if the record names no address, or several.
    """
    if kind is DeliveryEventType.BOUNCED:
        details = _about(record, "bounce")
        fault = _BY_BOUNCE.get(str(details.get("bounceType")), Fault.UNDETERMINED)
        if fault is Fault.SOFT and str(details.get("bounceSubType")) in _OF_MESSAGE:
            fault = Fault.OF_MESSAGE
        subtype = details.get("bounceSubType")
        cause = _cause(details.get("bounceType"), subtype)
        if cause in _PERHAPS_REPLIES and not _has_status(details):
            return None
        by_policy = str(subtype) not in _NOT_TRIED and _is_by_policy(details)
        if by_policy:
            fault = Fault.OF_MESSAGE
        address = _written_to(mail, details, "bouncedRecipients")
        return AddressFault(fault, address, cause, subtype == _OWN_LIST, by_policy)
    if kind is DeliveryEventType.COMPLAINED:
        details = _about(record, "complaint")
        names = (details.get("complaintFeedbackType"), details.get("complaintSubType"))
        if str(names[0]) in _NO_COMPLAINTS:
            return None
        address = _written_to(mail, details, "complainedRecipients")
        return AddressFault(Fault.COMPLAINT, address, _cause(*names), names[1] == _OWN_LIST)
    return None


def _has_status(bounce: Mapping[str, Any]) -> bool:
    """Return True if the bounce has the fields of a delivery status notification."""
    return "reportingMTA" in bounce or any(
        name in each for each in _recipients(bounce) for name in _OF_STATUS
    )


def _is_by_policy(bounce: Mapping[str, Any]) -> bool:
    """Return True if the bounce has a status code x.7.x, such as 5.7.26 in `smtp; 550-5.7.26 …`.

    The search covers all of `diagnosticCode`, because `status` is often less specific, such as
    5.0.0. The text is written by other mail servers, so the pattern must match in linear time.
    https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounced-recipients
    """
    texts = [
        each.get(name) for each in _recipients(bounce) for name in ("status", "diagnosticCode")
    ]
    return any(isinstance(text, str) and _BY_POLICY.search(text[:_MOST_READ]) for text in texts)


def _recipients(bounce: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = bounce.get("bouncedRecipients")
    listed = entries if isinstance(entries, list) else []
    return [each for each in listed if isinstance(each, dict)]


def _about(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    details = record.get(name)
    if not isinstance(details, dict):
        raise InvalidEvent(f"{name} of an SES event must be an object with the recipients")
    return details


def _written_to(mail: Mapping[str, Any], details: Mapping[str, Any], recipients: str) -> str:
    """Return the hash of the address to which the message was sent."""
    addresses = _texts(mail.get("destination"))
    if not addresses:
        entries = details.get(recipients)
        listed = entries if isinstance(entries, list) else []
        addresses = _texts([each.get("emailAddress") for each in listed if isinstance(each, dict)])
    hashes = {address_hash(address) for address in addresses}
    if len(hashes) != 1:
        raise InvalidEvent(
            f"mail.destination and {recipients} of an SES event name {len(hashes)} addresses, but "
            "Gazette sends each message to one address"
        )
    return hashes.pop()


def _texts(values: Any) -> list[str]:
    listed = values if isinstance(values, list) else []
    return [each for each in listed if isinstance(each, str) and each.strip()]


def _cause(*names: Any) -> str:
    """Return the type and subtype of a bounce or complaint, such as `Permanent NoEmail`. Omit any
    text that could be an address.
    """
    return " ".join(name for name in names if isinstance(name, str) and _NAME.fullmatch(name))
