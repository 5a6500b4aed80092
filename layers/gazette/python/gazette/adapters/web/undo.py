"""Makes and reads what takes back what an unsubscribe link did: the button on the page after it."""

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
    """Signed like links, and valid for a day beside the link that did it."""

    def __init__(self, *, keys: Callable[[], LinkKeys], clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    def make(self, link: LinkToken, left: Leaving) -> str:
        """What takes back what `link` did; empty if nothing can be taken back."""
        if left.act is None or left.undoable_at is None:
            return ""
        text = undo_text(link, left.act, left.undoable_at)
        return sign(text, purpose=Purpose.UNDO, keys=self._keys())

    def read(self, token: str, link: LinkToken) -> Undone:
        """What `make` wrote of this link. Raises InvalidToken, and EndedLink after a day."""
        of, act, at = read_undo(verify(token, purpose=Purpose.UNDO, keys=self._keys()))
        if of != link or act not in {*LeaveAct}:
            raise InvalidToken("This takes back what another link did.")
        if self._clock() - at > UNDO_FOR:
            raise EndedLink("This can no longer be taken back here.")
        return Undone(LeaveAct(act), at)
