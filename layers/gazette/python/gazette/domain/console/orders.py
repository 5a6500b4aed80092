"""The order to redrive messages, which a person confirms on the support page. Pure.

CloudWatch calls a widget's function not only for a click, but also when the dashboard is refreshed
and when the widget is resized, and the call of a refresh has no sign of its cause. Only a signed
order therefore moves messages. An order names its messages, expires after ten minutes, and excludes
messages that arrived after the page was made, so that it moves each message at most once.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/add_custom_widget_dashboard_about.html
"""

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from gazette.domain.dead_letters import KNOWN, QUARANTINE, Selection
from gazette.domain.errors import GazetteError, InvalidToken
from gazette.domain.identity import parse_run_id, run_id
from gazette.domain.links import LinkKeys
from gazette.domain.scheduling.calendar import slot_id, slot_of
from gazette.domain.scheduling.instants import read_instant

ORDER_FOR = timedelta(minutes=10)
"""The time for which an order is valid."""

EVERY_QUEUE = "all"
"""The queue name of an order for every dead-letter queue. It does not include the quarantine."""

_PURPOSE = b"gazette: the redrive of dead letters from the support page"
"""The text from which the key of orders is derived. No token of a link is signed with that key."""

_QUEUES = {EVERY_QUEUE, QUARANTINE, *(dead.name for dead in KNOWN if dead.source)}


class InvalidSelection(GazetteError):
    """A selection of messages that cannot be used. The error text gives the remedy."""


@dataclass(frozen=True, slots=True)
class RedriveOrder:
    """A redrive of selected messages."""

    # The name of a dead-letter queue, QUARANTINE or EVERY_QUEUE.
    queue: str

    selection: Selection

    # Messages that arrived after this time are not moved, by the SQS clock.
    before: datetime

    # The time at which the order ends.
    expires_at: datetime

    def to_text(self) -> str:
        """Return the order as JSON, which `_read` parses."""
        selection = self.selection
        content = {
            "queue": self.queue,
            "run": run_id(selection.run) if selection.run else "",
            "slot": slot_id(selection.batch) if selection.batch else "",
            "date": selection.on.isoformat() if selection.on else "",
            "message": selection.message,
            "before": self.before.isoformat(),
            "expires_at": self.expires_at.isoformat(),
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":"))


def read_selection(*, run: str = "", slot: str = "", on: str = "", message: str = "") -> Selection:
    """Return the selection that a person wrote. Empty texts are left out.

    Raises InvalidSelection.
    """
    try:
        key = parse_run_id(run) if run else None
    except ValueError as err:
        raise InvalidSelection(
            "The run id is invalid. Enter an id such as ann-daily-17, as the tables show it."
        ) from err
    try:
        day = date.fromisoformat(on) if on else None
    except ValueError as err:
        raise InvalidSelection("The date is invalid. Enter a date such as 2026-11-22.") from err
    return Selection(key, _slot(slot) if slot else None, day, message)


def _slot(text: str) -> datetime:
    try:
        instant = read_instant(text)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise InvalidSelection(
            "The slot is invalid. Enter the slot of a batch in UTC, such as 2026-11-22T06:10Z."
        )
    return slot_of(instant)


def check_queue(name: str, selection: Selection) -> None:
    """Raise InvalidSelection if the messages of the queue cannot be selected in this way."""
    if name not in _QUEUES:
        raise InvalidSelection("The messages of this queue cannot be redriven.")
    by_run = selection.run or selection.batch or selection.on
    names_runs = {dead.name for dead in KNOWN if dead.names_runs} | {EVERY_QUEUE}
    if by_run and name not in names_runs:
        raise InvalidSelection(
            "The messages of this queue do not belong to runs. Redrive the whole queue."
        )


def sign_order(order: RedriveOrder, keys: LinkKeys) -> str:
    """Return the token of an order: `<key id>.<order>.<signature>`, signed with the newest key."""
    return _token(order.to_text(), keys.newest, keys)


def read_order(token: str, keys: LinkKeys) -> RedriveOrder:
    """Return the order in a token, which may have expired. Raises InvalidToken."""
    key_id, _, signed = token.partition(".")
    if key_id not in keys.by_id:
        raise InvalidToken("The order names an unknown key.")
    try:
        text = _decode(signed.partition(".")[0]).decode()
    except (binascii.Error, UnicodeError) as err:
        raise InvalidToken("The order is incomplete.") from err
    genuine = _token(text, key_id, keys)
    if not hmac.compare_digest(token.encode(errors="replace"), genuine.encode()):
        raise InvalidToken("The order was not made by this stage, or was altered.")
    return _read(text)


def _read(text: str) -> RedriveOrder:
    content = json.loads(text)
    selection = read_selection(
        run=content["run"], slot=content["slot"], on=content["date"], message=content["message"]
    )
    before, expires_at = (
        datetime.fromisoformat(content[name]).astimezone(UTC) for name in ("before", "expires_at")
    )
    return RedriveOrder(content["queue"], selection, before, expires_at)


def _token(text: str, key_id: str, keys: LinkKeys) -> str:
    key = hmac.new(keys.by_id[key_id], _PURPOSE, hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).digest()
    return f"{key_id}.{_encode(text.encode())}.{_encode(signature)}"


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    padded = text.encode("ascii") + b"=" * (-len(text) % 4)
    return base64.b64decode(padded, altchars=b"-_", validate=True)
