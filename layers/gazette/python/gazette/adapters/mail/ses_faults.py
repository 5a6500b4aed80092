"""Which address a bounce or complaint of Amazon SES is about, and what it means for it."""

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
"""Characters that are read of a `status` or `diagnosticCode`: four lines of an SMTP reply (RFC
5321, section 4.5.3.1.5)."""
_NO_COMPLAINTS = {"not-spam", "auth-failure"}
_NAME = re.compile(r"[A-Za-z-]{1,40}")


@dataclass(frozen=True, slots=True)
class AddressFault:
    """The fault of the address with this hash, and SES's name for the cause.

    `unsent`, `is_by_policy`: as in DeliveryEvent.
    """

    fault: Fault
    address: str
    cause: str
    unsent: bool
    is_by_policy: bool = False


def address_fault(
    kind: DeliveryEventType, record: Mapping[str, Any], mail: Mapping[str, Any]
) -> AddressFault | None:
    """The address at fault in the record of a bounce or complaint; None if there is none.

    Permanent bounces are hard, also if SES did not try because the address is on one of its own
    suppression lists. SES reports a transient bounce once it has given up. Subtypes that another
    message might not cause are the message's fault. An unknown type is undetermined.

    A refusal by the mailbox provider's policy (DMARC, spam, block lists) is the message's fault
    too, whatever the bounce type: x.7.x is "security or policy status" and says nothing about the
    mailbox (RFC 3463, section 3.8). If the address is on a suppression list, SES did not try, so
    nobody refused.
    https://www.iana.org/assignments/smtp-enhanced-status-codes

    An out-of-office reply also comes as a bounce, `Transient General` or undetermined, although
    the email arrived; SES does not count it either. It lacks the fields of a delivery status
    notification (RFC 3464), which SES adds to real bounces.
    https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounce-types

    Of complaints, `not-spam` takes one back, and `auth-failure` is an automatic report about
    signatures; neither counts. A complaint without a type counts, because some mailbox providers
    give none, and so does one that SES reports instead of sending, because of an earlier complaint
    (`OnAccountSuppressionList`).

    The address is the one in `mail.destination`: Gazette writes to one address. The recipients in
    the record come from the notification's Final-Recipient, which may be a forwarding address;
    they are used only if `mail.destination` is missing. Mailbox providers mostly redact the
    address in complaints.
    https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html

    Raises InvalidEvent if it names no address, or more than one.
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
        return AddressFault(fault, address, cause, subtype == _OWN_LIST, by_policy)
    if kind is DeliveryEventType.COMPLAINED:
        said = _about(record, "complaint")
        names = (said.get("complaintFeedbackType"), said.get("complaintSubType"))
        if str(names[0]) in _NO_COMPLAINTS:
            return None
        address = _written_to(mail, said, "complainedRecipients")
        return AddressFault(Fault.COMPLAINT, address, _cause(*names), names[1] == _OWN_LIST)
    return None


def _has_status(bounce: Mapping[str, Any]) -> bool:
    """Whether the bounce has the fields of a delivery status notification."""
    return "reportingMTA" in bounce or any(
        name in each for each in _recipients(bounce) for name in _OF_STATUS
    )


def _is_by_policy(bounce: Mapping[str, Any]) -> bool:
    """Whether the bounce has a status code x.7.x, such as 5.7.26 in `smtp; 550-5.7.26 …`.

    Searched anywhere in `diagnosticCode`, because `status` is often less specific, such as 5.0.0.
    The text comes from outside: the pattern takes time linear in its length.
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
        raise InvalidEvent(f"{name} of an SES event must be an object with the recipients")
    return said


def _written_to(mail: Mapping[str, Any], said: Mapping[str, Any], recipients: str) -> str:
    """The hash of the address that the message was sent to."""
    named = _texts(mail.get("destination"))
    if not named:
        given = said.get(recipients)
        listed = given if isinstance(given, list) else []
        named = _texts([each.get("emailAddress") for each in listed if isinstance(each, dict)])
    hashes = {address_hash(address) for address in named}
    if len(hashes) != 1:
        raise InvalidEvent(
            f"mail.destination and {recipients} of an SES event name {len(hashes)} addresses: "
            "Gazette sends each message to one address"
        )
    return hashes.pop()


def _texts(given: Any) -> list[str]:
    listed = given if isinstance(given, list) else []
    return [each for each in listed if isinstance(each, str) and each.strip()]


def _cause(*names: Any) -> str:
    """Type and subtype, such as `Permanent NoEmail`; never anything that could be an address."""
    return " ".join(name for name in names if isinstance(name, str) and _NAME.fullmatch(name))
