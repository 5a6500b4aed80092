"""The program of docs/delivery-events.md, as the page has it, and the webhooks that it gets.

The payloads have the fields of the examples that Mailgun documents:
https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhook-payloads
"""

import hashlib
import hmac
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.code_blocks import code_blocks

PAGE = Path(__file__).parents[1] / "docs" / "delivery-events.md"
SIGNING_KEY = "signing-key"


def blocks(language: str) -> list[str]:
    """The code blocks of the page in this language."""
    return code_blocks(PAGE.read_text(encoding="utf-8"), language)


def _module(*programs: str) -> ModuleType:
    module = ModuleType("mailgun")
    for program in programs:
        exec(program, module.__dict__)  # noqa: S102 -- our own page
    return module


_BY_THE_BUS, _BY_THE_API = blocks("python")
PROGRAM: Any = _module(_BY_THE_BUS)
BY_THE_API: Any = _module(_BY_THE_BUS, _BY_THE_API)
"""The program with the function that uses the API instead of the bus."""


def webhook(
    event: str, message_id: str, to: str, at: float, *, key: str = SIGNING_KEY, **more: Any
) -> dict[str, Any]:
    """The request that Mailgun makes to the function's URL."""
    timestamp, token = "1770920772", "e0b5477167110d68991efc6b9f89f0a11066af27834600e123"
    signature = hmac.new(key.encode(), f"{timestamp}{token}".encode(), hashlib.sha256).hexdigest()
    data = {
        "event": event,
        "id": "CCXMjJ7nQi2N3BPigGOdgQ",
        "log-level": "info",
        "recipient": to,
        "recipient-domain": to.partition("@")[2],
        "timestamp": at,
        "message": {
            "headers": {
                "from": "Shop <digest@shop.example>",
                "message-id": message_id,
                "subject": "3 new comments",
                "to": to,
            },
            "size": 341,
        },
        **more,
    }
    told = {"timestamp": timestamp, "token": token, "signature": signature}
    return {"body": json.dumps({"signature": told, "event-data": data})}


def failure(severity: str, status: str | None) -> dict[str, Any]:
    """The fields of a failed delivery."""
    about = {"attempt-no": 1, "code": 550, "message": "no", "enhanced-code": status}
    return {"severity": severity, "reason": "bounce", "delivery-status": about}
