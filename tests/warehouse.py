"""The consumer of docs/feed-your-warehouse.md, as the page has it."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.code_blocks import code_blocks

PAGE = Path(__file__).parents[1] / "docs" / "feed-your-warehouse.md"


def blocks(language: str) -> list[str]:
    """The code blocks of the page in this language."""
    return code_blocks(PAGE.read_text(encoding="utf-8"), language)


def program() -> str:
    """The program of the page."""
    (text,) = blocks("python")
    return text


TOTALS, CHOICES, AWAY = blocks("sql")


def _module() -> ModuleType:
    module = ModuleType("warehouse")
    exec(program(), module.__dict__)  # noqa: S102 -- our own page
    return module


WAREHOUSE: Any = _module()


@contextmanager
def opened(file: str = ":memory:") -> Iterator[sqlite3.Connection]:
    """A database of the program."""
    with closing(sqlite3.connect(file)) as db:
        db.executescript(WAREHOUSE.TABLES)
        yield db


def store(db: sqlite3.Connection, envelopes: Iterable[Mapping[str, Any]]) -> None:
    """Store events, each in its own transaction."""
    for envelope in envelopes:
        with db:
            WAREHOUSE.store(db, envelope)


def choices(db: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """The current choices by reader."""
    by_reader: dict[str, dict[str, str]] = {}
    for user_id, name, value in db.execute(CHOICES):
        by_reader.setdefault(user_id, {})[name] = value
    return by_reader


def away(db: sqlite3.Connection) -> dict[str, str]:
    """The readers who get no email, with the last event of each."""
    return dict(db.execute(AWAY))


def totals(db: sqlite3.Connection) -> dict[str, int]:
    """The number of emails by event."""
    return dict(db.execute(TOTALS))
