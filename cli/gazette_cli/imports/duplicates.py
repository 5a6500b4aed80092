"""Duplicates in a file of millions of items, found in little memory."""

import struct
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import blake2b
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO

_PARTS = 64
_RECORD = struct.Struct("<16sQ")


class Duplicates:
    """A record of the keys in a file. Their hashes are in temporary files until they are compared.

    Each of the temporary files has its share of the hashes, so that only one share is in memory.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._parts: list[IO[bytes]] = []

    def __enter__(self) -> "Duplicates":
        for _ in range(_PARTS):
            self._parts.append(self._stack.enter_context(TemporaryFile()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def add(self, key: str, line: int) -> None:
        """Record a key and its line."""
        digest = blake2b(key.encode(errors="replace"), digest_size=16).digest()
        self._parts[digest[0] % _PARTS].write(_RECORD.pack(digest, line))

    def found(self) -> Iterator[tuple[int, int]]:
        """Yield the line of each duplicate, and the first line with the same key."""
        for part in self._parts:
            part.seek(0)
            first: dict[bytes, int] = {}
            while block := part.read(_RECORD.size * 1000):
                for digest, line in _RECORD.iter_unpack(block):
                    if digest in first:
                        yield line, first[digest]
                    else:
                        first[digest] = line
