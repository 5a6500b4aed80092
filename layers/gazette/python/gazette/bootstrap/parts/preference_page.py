"""The preference page, joined: what is shown of a reader, and what a form does."""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass

from gazette.adapters.rendering.preference_page import PreferencePages, zones
from gazette.adapters.web.forms import read_form
from gazette.domain.errors import InvalidToken, UnreadableForm
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.queues import Bus
from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.overview import Overview, Told
from gazette.domain.subscribers.preference_form import asked
from gazette.steps.context import RoutingContext
from gazette.steps.preferences.page import do, look

_STATUS = {
    Told.NOT_SAVED: 503,
    Told.UNSURE: 503,
    Told.UNREADABLE: 400,
    Told.WRONG: 400,
}


def body_of(body: str | None, *, is_base64: bool) -> bytes:
    """The bytes that a browser sent, as the edge hands them over; none where they are not."""
    try:
        return b64decode(body or "", validate=True) if is_base64 else (body or "").encode()
    except ValueError:
        return b""


@dataclass(frozen=True, slots=True)
class Answer:
    """To one request, with what became of it."""

    status: int
    html: str
    told: Told | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferencePage:
    """Raises InvalidToken for somebody of whom nothing is known: as for a link that is wrong.

    `announce` tells fan-out how many shards there are, before the first schedule is written.
    `note_left_by` remembers that a reader left by a link of an email.
    """

    pages: PreferencePages
    context: RoutingContext
    suppressions: Suppressions
    bus: Bus
    announce: Callable[[], None]
    note_left_by: Callable[[RunKey], None]

    def show(self, user_id: str) -> Answer:
        """Change nothing."""
        return Answer(200, self.pages.page(self._look(user_id)))

    def submit(
        self, email: RunKey, body: bytes, content_type: str, *, time_left: TimeLeft
    ) -> Answer:
        """Do what the form asks for, and show what follows from it; `email` led to the page."""
        user_id = email.user_id
        overview = self._look(user_id)
        try:
            sent = read_form(body, content_type)
        except UnreadableForm:
            page = self.pages.page(overview, told=Told.UNREADABLE)
            return Answer(_STATUS[Told.UNREADABLE], page, Told.UNREADABLE)
        wanted = asked(
            sent, overview, categories=self.pages.categories(overview), zones=frozenset(zones())
        )
        if not wanted.problems:
            self.announce()
        told = do(
            user_id,
            wanted,
            bus=self.bus,
            suppressions=self.suppressions,
            context=self.context,
            time_left=time_left,
        )
        if told is Told.UNSUBSCRIBED:
            self.note_left_by(email)
        if told is Told.WRONG:
            page = self.pages.page(overview, told=told, problems=wanted.problems, sent=sent)
        else:
            page = self.pages.page(self._look(user_id), told=told)
        return Answer(_STATUS.get(told, 200), page, told)

    def _look(self, user_id: str) -> Overview:
        overview = look(user_id, context=self.context)
        if overview is None:
            raise InvalidToken("Nothing is known of this reader.")
        return overview
