"""Buffers that limit the rendered text of templates during rendering."""

from collections.abc import Iterable
from itertools import islice

from gazette.adapters.templates.sandbox.sizes import check_length

_AT_ONCE = 50
"""The number of parts that are rendered between two size checks. Each part has at most LONGEST
characters.
"""


class Buffer(list[str]):
    """A buffer for the rendered parts of a macro or a block.

    Raises SecurityError if the text becomes too long.
    """

    _counted = 0
    _length = 0

    def append(self, text: str, /) -> None:
        """Append a rendered part to the buffer."""
        super().append(text)
        if len(self) > self._counted + _AT_ONCE:
            self._count()

    def extend(self, texts: Iterable[str], /) -> None:
        """Append several rendered parts to the buffer."""
        super().extend(texts)
        if len(self) > self._counted + _AT_ONCE:
            self._count()

    def _count(self) -> None:
        """Add the length of new parts, and check the total length.

        Each part counts as one extra character, because empty texts take memory too.
        """
        self._length += len(self) - self._counted + sum(map(len, self[self._counted :]))
        self._counted = len(self)
        check_length(self._length)


def joined(parts: Iterable[str]) -> str:
    """Join the rendered parts into one text.

    Raise SecurityError as soon as the text is too long.
    """
    if isinstance(parts, list):
        text = "".join(parts)
    else:
        remaining = iter(parts)
        text = "".join(islice(remaining, _AT_ONCE))
        if (part := next(remaining, None)) is not None:
            more = Buffer((text, part))
            while batch := list(islice(remaining, _AT_ONCE)):
                more.extend(batch)
            text = "".join(more)
    check_length(len(text))
    return text
