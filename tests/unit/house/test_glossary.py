"""docs/glossary.md is in order, and words that were given up do not come back."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "glossary.md"
CODE = ("benchmarks", "cli", "demo", "functions", "infra", "layers/gazette", "proofs", "tests")
GONE: dict[str, str] = {
    "batches table": "control table",
    "brake lever": "circuit breaker",
    "brakes": "circuit breakers, or holds",
    "bring to": "route to followers",
    "cadence": "recurrence, or frequency",
    "category brake": "category hold",
    "centre": "preference page",
    "departures": "fan-out context",
    "desk": "edition context",
    "desks": "the functions themselves",
    "doubt": "unknown outcome",
    "doubts": "unknown outcomes",
    "event shelf": "deferred events",
    "everybodys": "default variant",
    "foresee": "forecast",
    "foreseen": "forecast",
    "foresees": "forecasts",
    "gives its message up": "requeues its message",
    "in doubt": "of unknown outcome",
    "kept for later": "returned to queue",
    "lane": "stream pacing",
    "leaver": "unsubscribe run",
    "lever": "circuit breaker",
    "mail report": "delivery event",
    "mends itself": "recovers",
    "no turn": "no permit",
    "no word": "unconfirmed",
    "note left by": "record unsubscribed",
    "placed event": "stored event",
    "placing": "routing",
    "pull if off": "trip if closed",
    "put off": "defer",
    "puts off": "defers",
    "rearrange": "reroute",
    "rehearsal": "dry run",
    "rehearse": "dry run",
    "rehearsing": "dry run",
    "restarted": "redriven",
    "restarting": "redrive context",
    "rests at": "dormant at",
    "says like": "has content of",
    "set out": "start walk",
    "sets aside": "excludes",
    "standings": "targets",
    "take note": "record event",
    "unhurried": "unlimited",
    "wait for turn": "wait for permit",
    "wish": "effective frequency",
    "wishes": "frequencies",
    "without turn": "without permit",
}
"""What is no longer said, and what is said instead. Words of one name are joined by a space."""


def terms() -> list[str]:
    rows = re.findall(r"^\| (.+?) \| .+ \|$", PAGE.read_text(), re.MULTILINE)
    return [term for term in rows if term not in {"term", "---"}]


def texts() -> Iterator[Path]:
    """Every page and every module but this one."""
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
    yield from (ROOT / "docs").rglob("*.md")
    for folder in CODE:
        yield from (path for path in (ROOT / folder).rglob("*.py") if path != Path(__file__))


def words(text: str) -> str:
    """The text in lower case, identifiers taken apart: `NoTurn` and `no_turn` are `no turn`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return " ".join(re.findall(r"[a-z0-9]+", apart.lower()))


def test_glossary_terms_are_in_alphabetical_order() -> None:
    assert terms() == sorted(terms(), key=str.lower)


def test_each_glossary_term_is_defined_once() -> None:
    assert [term for term, times in Counter(terms()).items() if times > 1] == []


def test_retired_words_are_not_used() -> None:
    given_up = re.compile(rf"\b({'|'.join(map(re.escape, GONE))})\b")
    found = [
        f"{path.relative_to(ROOT)}: {word!r}, say {GONE[word]!r}"
        for path in texts()
        for word in sorted(set(given_up.findall(words(path.read_text()))))
    ]
    assert found == []


@pytest.mark.parametrize("name", ["NoTurn", "no_turn", "`no turn`", "NO_TURN"])
def test_retired_word_is_found_in_any_spelling(name: str) -> None:
    assert words(name) == "no turn"
