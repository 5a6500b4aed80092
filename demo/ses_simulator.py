"""The addresses of SES's mailbox simulator, and the events that they cause.

https://docs.aws.amazon.com/ses/latest/dg/send-an-email-from-console.html
"""

from collections.abc import Mapping
from typing import Any

_DOMAIN = "simulator.amazonses.com"
_BOUNCES: Mapping[str, str] = {"bounce": "General", "suppressionlist": "Suppressed"}
"""The subtype of the bounce by mailbox. `suppressionlist` bounces as if the address were on the
global suppression list.
https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounce-types
"""


def _mailbox(to: str) -> str:
    """Return the mailbox of an address without its label, or "" for any other address."""
    local, _, domain = to.rpartition("@")
    return local.partition("+")[0].lower() if domain.lower() == _DOMAIN else ""


def bounce_subtype(to: str) -> str:
    """Return the subtype of the bounce that an address causes; "" if it does not bounce."""
    return _BOUNCES.get(_mailbox(to), "")


def complains(to: str) -> bool:
    """Return True if an address causes a complaint."""
    return _mailbox(to) == "complaint"


def bounce_record(to: str, subtype: str, at: str) -> dict[str, Any]:
    """Return the record of a permanent bounce.

    The simulator rejects the email with "550 5.1.1 (Unknown User)".
    """
    return {
        "timestamp": at,
        "bounceType": "Permanent",
        "bounceSubType": subtype,
        "bouncedRecipients": [
            {
                "emailAddress": to,
                "action": "failed",
                "status": "5.1.1",
                "diagnosticCode": "smtp; 550 5.1.1 user unknown",
            }
        ],
        "feedbackId": "simulated",
        "reportingMTA": f"dsn; {_DOMAIN}",
    }


def complaint_record(to: str, at: str) -> dict[str, Any]:
    """Return the record of a complaint."""
    return {
        "timestamp": at,
        "complainedRecipients": [{"emailAddress": to}],
        "feedbackId": "simulated",
        "complaintFeedbackType": "abuse",
    }
