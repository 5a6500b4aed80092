"""The naive design with which Gazette is compared: a typical first version with the same libraries.

It processes one message at a time. It reads the reader and the unsent events, lists the events with
Jinja2, inlines the CSS with premailer, sends the email, and marks each event as sent. It does not
group events or claim runs, so repeated messages cause duplicates. It has no rate limit and no
suppression.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from jinja2 import Environment, FileSystemLoader, Template
from premailer import transform
from pynamodb.attributes import BooleanAttribute, UnicodeAttribute
from pynamodb.models import Model

_HERE = Path(__file__).parent
_CSS = _HERE.parents[1] / "templates" / "email.css"
_BRAND = {"name": "Example Ltd", "accent": "#1d4ed8", "accent_dark": "#93c5fd"}


class NaiveReader(Model):
    """A reader in the naive design."""

    class Meta:
        table_name = "naive_readers"

    user_id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute()
    email = UnicodeAttribute()


class NaiveEvent(Model):
    """An event of a reader, with a flag for sent events."""

    class Meta:
        table_name = "naive_events"

    user_id = UnicodeAttribute(hash_key=True)
    event_id = UnicodeAttribute(range_key=True)
    title = UnicodeAttribute()
    url = UnicodeAttribute()
    actor = UnicodeAttribute()
    excerpt = UnicodeAttribute()
    occurred_at = UnicodeAttribute()
    sent = BooleanAttribute(null=True)


def lambda_handler(event: dict[str, Any], _: object) -> dict[str, Any]:
    """Process a batch of messages. If one message fails, the whole batch fails."""
    for record in event["Records"]:
        _send_digest(json.loads(record["body"])["user_id"])
    return {}


def _send_digest(user_id: str) -> None:
    reader = NaiveReader.get(user_id)
    events = list(NaiveEvent.query(user_id, filter_condition=NaiveEvent.sent.does_not_exist()))
    subject, html, text = _render(reader.name, events)
    _ses().send_email(
        FromEmailAddress="Example <digest@example.com>",
        Destination={"ToAddresses": [reader.email]},
        Content={
            "Simple": {
                "Subject": {"Data": subject},
                "Body": {"Html": {"Data": html}, "Text": {"Data": text}},
            }
        },
    )
    for event in events:
        event.update(actions=[NaiveEvent.sent.set(True)])


def _render(name: str, events: list[NaiveEvent]) -> tuple[str, str, str]:
    html, text = _templates()
    given = {"name": name, "events": events, "brand": _BRAND}
    inlined = transform(html.render(given), cssutils_logging_level="CRITICAL")
    return f"{len(events)} updates for you", inlined, text.render(given)


@cache
def _ses() -> Any:
    return boto3.client("sesv2")


@cache
def _templates() -> tuple[Template, Template]:
    templates = Environment(loader=FileSystemLoader(_HERE), autoescape=True)
    templates.globals["css"] = templates.from_string(_CSS.read_text(encoding="utf-8")).render(
        brand=_BRAND, language={"start": "left"}
    )
    return templates.get_template("naive.html"), templates.get_template("naive.txt")
