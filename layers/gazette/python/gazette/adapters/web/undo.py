"""Tokens for the undo button on the page that confirms an unsubscription."""

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
    """An issuer and verifier of undo tokens, which are signed in the same way as links.

    Each token is valid for a day, and only together with its link.
    """

    def __init__(self, *, keys: Callable[[], LinkKeys], clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    def make(self, link: LinkToken, leaving: Leaving) -> str:
        """Return the token that undoes the action of `link`, or an empty string if the action
        cannot be undone.
        """
        if leaving.act is None or leaving.undoable_at is None:
            return ""
        text = undo_text(link, leaving.act, leaving.undoable_at)
        return sign(text, purpose=Purpose.UNDO, keys=self._keys())

    def read(self, token: str, link: LinkToken) -> Undone:
        """Verify the undo token of a link, and return its content.

        Raises InvalidToken, and EndedLink after a day.
        """
        of, act, at = read_undo(verify(token, purpose=Purpose.UNDO, keys=self._keys()))
        if of != link or act not in {*LeaveAct}:
            raise InvalidToken("This token belongs to another link.")
        if self._clock() - at > UNDO_FOR:
            raise EndedLink("This action can no longer be undone here.")
        return Undone(LeaveAct(act), at)
