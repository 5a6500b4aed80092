"""The tokens that undo the act of an unsubscribe link, for the button on the page after it."""

from collections.abc import Callable

from gazette.domain.errors import EndedLink, InvalidToken
from gazette.domain.links import (
    UNDO_FOR,
    LinkKeys,
    LinkToken,
    Purpose,
    read_undo,
    sign,
    undo_text,
    verify,
)
from gazette.domain.ports.clock import Clock
from gazette.domain.subscribers.leaving import LeaveAct, Leaving, Undone


class UndoTokens:
    """Tokens that are signed like links.

    Each is valid for a day, and only together with its link.
    """

    def __init__(self, *, keys: Callable[[], LinkKeys], clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    def make(self, link: LinkToken, leaving: Leaving) -> str:
        """Return the token that undoes the act of `link`; empty if it cannot be undone."""
        if leaving.act is None or leaving.undoable_at is None:
            return ""
        text = undo_text(link, leaving.act, leaving.undoable_at)
        return sign(text, purpose=Purpose.UNDO, keys=self._keys())

    def read(self, token: str, link: LinkToken) -> Undone:
        """Return the content of a token for this link.

        Raise InvalidToken, and EndedLink after a day.
        """
        of, act, at = read_undo(verify(token, purpose=Purpose.UNDO, keys=self._keys()))
        if of != link or act not in {*LeaveAct}:
            raise InvalidToken("This token undoes the act of another link.")
        if self._clock() - at > UNDO_FOR:
            raise EndedLink("This act can no longer be undone here.")
        return Undone(LeaveAct(act), at)
