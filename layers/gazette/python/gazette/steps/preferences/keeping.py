"""The page behind the notice that an inactive reader's digests end soon."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from gazette.domain.errors import EndedLink, UnreadableForm
from gazette.domain.links import LinkToken
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.leaving import KeepAct, Keeping, LeaveAct
from gazette.domain.subscribers.preference_form import Fields
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.preferences.leaving import leave_by
from gazette.steps.preferences.requests import PageContext
from gazette.steps.subscribers.sunset import mark_active


def look(link: LinkToken, offer: KeepAct, *, context: PageContext) -> Keeping:
    """Return the content of the page without making changes, because scanners open every link.

    Raises EndedLink if the reader no longer exists or has another address.
    """
    now, sunset = context.routing.clock(), context.routing.sunset
    reader = _reader_at(link, context).as_of(now, sunset=sunset)
    ends_at = reader.dormant_at(sunset) if sunset else None
    is_ahead = ends_at is not None and ends_at > now
    is_ending = is_ahead and _ends_soon(reader, link, sunset)
    return Keeping(reader=reader, offer=offer, ends_at=ends_at if is_ending else None)


def _ends_soon(reader: Subscriber, link: LinkToken, sunset: timedelta | None) -> bool:
    """Return True if an email of the date in the link would still have the notice.

    This is not the case if the reader has been active since. The link contains only the date on
    which the email was due. A schedule has at most one digest on a date, so the end of the date
    gives the same answer.
    """
    end_of_day = datetime.combine(link.issued_on, time.max, UTC)
    return reader.digests_end_on(Frequency(link.run.schedule), end_of_day, sunset) is not None


def press(
    link: LinkToken,
    read_form: Callable[[], Fields],
    offer: KeepAct,
    *,
    context: PageContext,
    time_left: TimeLeft,
) -> Keeping:
    """Record that the reader is active, and make the email weekly if the reader wants that.

    Safe to repeat, and after the reader has become dormant: the email then resumes. An unsubscribed
    reader stays unsubscribed. Raises the errors of `look` and of `leave_by`.
    """
    before = look(link, offer, context=context)
    act = _act_of(read_form)
    if act is None or before.reader.has_left:
        return before
    context.announce()
    mark_active(link.run.user_id, context.routing.clock(), context=context.routing)
    if act is KeepAct.WEEKLY:
        leave_by(link, LeaveAct.WEEKLY, context=context, time_left=time_left)
    return replace(before, reader=_reader_at(link, context), act=act)


def _act_of(read_form: Callable[[], Fields]) -> KeepAct | None:
    """Return the button that was pressed, or None for any other request."""
    try:
        sent = read_form()
    except UnreadableForm:
        return None
    return next((act for act in KeepAct if act in sent.get("act", ())), None)


def _reader_at(link: LinkToken, context: PageContext) -> Subscriber:
    reader = context.routing.subscribers.get(link.run.user_id)
    if isinstance(reader, Subscriber) and link.is_for(reader):
        return reader
    raise EndedLink("The reader of this link no longer exists, or has another address.")
