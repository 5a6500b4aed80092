"""What templates render, counted while they do."""

from collections.abc import Iterable
from itertools import islice

from gazette.adapters.rendering.sandbox.sizes import check_length

_AT_ONCE = 50
"""Parts that are rendered before they are counted; each is a text of LONGEST at most."""


class Buffer(list[str]):
    """What a macro or a block has rendered so far. Raises SecurityError once that is too long."""

    _counted = 0
    _length = 0

    def append(self, text: str, /) -> None:
        """As a list does."""
        super().append(text)
        if len(self) > self._counted + _AT_ONCE:
            self._count()

    def extend(self, texts: Iterable[str], /) -> None:
        """As a list does."""
        super().extend(texts)
        if len(self) > self._counted + _AT_ONCE:
            self._count()

    def _count(self) -> None:
        """An empty text takes memory too."""
        self._length += len(self) - self._counted + sum(map(len, self[self._counted :]))
        self._counted = len(self)
        check_length(self._length)


def joined(parts: Iterable[str]) -> str:
    """What is rendered, in one. Raises SecurityError as soon as that is too long."""
    if isinstance(parts, list):
        made = "".join(parts)
    else:
        left = iter(parts)
        made = "".join(islice(left, _AT_ONCE))
        if (one := next(left, None)) is not None:
            more = Buffer((made, one))
            while some := list(islice(left, _AT_ONCE)):
                more.extend(some)
            made = "".join(more)
    check_length(len(made))
    return made
