"""The order to redrive messages, which a person confirms on the support page. Pure.

CloudWatch calls a widget's function not only for a click, but also when the dashboard is refreshed
and when the widget is resized, and the call of a refresh has no sign of its cause. Only a signed
order therefore moves messages. An order names its messages, expires after ten minutes, and excludes
messages that arrived after the page was made, so that it moves each message at most once.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/add_custom_widget_dashboard_about.html
"""

import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from gazette.domain.console import remedies
from gazette.domain.dead_letters import KNOWN, QUARANTINE, Selection
from gazette.domain.errors import GazetteError
from gazette.domain.identity import parse_run_id, run_id
from gazette.domain.links import LinkKeys, sign, verify
from gazette.domain.scheduling.calendar import SLOT, slot_id, slot_of
from gazette.domain.scheduling.instants import read_zoned_instant

ORDER_FOR = timedelta(minutes=10)
"""The time for which an order is valid."""

EVERY_QUEUE = "all"
"""The queue name of an order for every dead-letter queue. It does not include the quarantine."""

_PURPOSE = "gazette: the redrive of dead letters from the support page"
"""The text from which the keys of orders are derived."""

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
            f"The run id is invalid. {remedies.RUN} The tables show the ids."
        ) from err
    try:
        day = date.fromisoformat(on) if on else None
    except ValueError as err:
        raise InvalidSelection("The date is invalid. Enter a date such as 2026-11-22.") from err
    return Selection(key, _slot(slot) if slot else None, day, message)


def _slot(text: str) -> datetime:
    """Return the slot that begins at an instant. Raises InvalidSelection."""
    try:
        at = read_zoned_instant(text)
    except ValueError as err:
        raise InvalidSelection(f"The slot is invalid. {remedies.SLOT}") from err
    if (slot := slot_of(at)) != at:
        raise InvalidSelection(
            f"No slot begins at this time. Specify {slot_id(slot)} or {slot_id(slot + SLOT)}."
        )
    return slot


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
    return sign(order.to_text(), purpose=_PURPOSE, keys=_keys_of_orders(keys))


def read_order(token: str, keys: LinkKeys) -> RedriveOrder:
    """Return the order in a token, which may have expired. Raises InvalidToken."""
    return _read(verify(token, purpose=_PURPOSE, keys=_keys_of_orders(keys)))


def _keys_of_orders(keys: LinkKeys) -> LinkKeys:
    """Return the keys that sign orders. No token of a link is signed with one of them."""
    derived = {
        key_id: hmac.new(key, _PURPOSE.encode(), hashlib.sha256).digest()
        for key_id, key in keys.by_id.items()
    }
    return LinkKeys(derived)


def _read(text: str) -> RedriveOrder:
    content = json.loads(text)
    selection = read_selection(
        run=content["run"], slot=content["slot"], on=content["date"], message=content["message"]
    )
    before, expires_at = (
        datetime.fromisoformat(content[name]).astimezone(UTC) for name in ("before", "expires_at")
    )
    return RedriveOrder(content["queue"], selection, before, expires_at)
