"""A settings page with Gazette's API for services. See docs/settings-page.md."""

import html
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

Call = Callable[..., dict[str, Any]]
"""The function `call` of docs/api.md: method, path, body, and the query by name."""

_LABELS = {"never": "Never", "daily": "Daily", "weekly": "Weekly", "immediate": "At once"}


def show(call: Call, user_id: str) -> str:
    """Return the page with the frequency of each category."""
    state = call("GET", "/v1/subscriber", user_id=user_id)
    fields = "".join(map(_field, state["categories"]))
    link = call("POST", "/v1/subscriber/link", user_id=user_id)["url"]
    return (
        f'<!doctype html><html lang="en"><title>Notifications</title><h1>Notifications</h1>'
        f'<form method="post">{fields}<button>Save</button></form>'
        f'<p><a href="{html.escape(link)}">More preferences</a></p></html>'
    )


def save(call: Call, user_id: str, form: str) -> None:
    """Submit only the categories that the user changed on the page."""
    fields = {name: values[-1] for name, values in parse_qs(form).items()}
    before = {name.removeprefix("was."): v for name, v in fields.items() if name[:4] == "was."}
    changed = {name: fields[name] for name, v in before.items() if fields.get(name, v) != v}
    if changed:
        choice = {"chosen_at": datetime.now(UTC).isoformat(), "frequencies": changed}
        call("PATCH", "/v1/subscriber/choices", choice, user_id=user_id)


def _field(category: dict[str, str]) -> str:
    name, often = html.escape(category["category"]), category["frequency"]
    options = "".join(
        f'<option value="{value}"{" selected" if value == often else ""}>{label}</option>'
        for value, label in (_LABELS | {often: _LABELS.get(often, often.title())}).items()
    )
    off = " disabled" if category["because"] == "critical" else ""
    was = f'<input type="hidden" name="was.{name}" value="{often}" autocomplete="off">'
    return f'<p><label>{name} <select name="{name}"{off}>{options}</select></label>{was}</p>'
