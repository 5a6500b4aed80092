"""Lists of suppressed addresses as CSV and JSON Lines."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TextIO

from gazette.domain.identity import KEYED_HASH, address_hash
from gazette.domain.scheduling.instants import read_instant
from gazette.domain.subscribers.suppression import Cause, Suppression

from gazette_cli.shared.answers import give_line
from gazette_cli.shared.console import printable

COLUMNS = ("address_hash", "reason", "since")
_READ = {"address", *COLUMNS}
_HASH = re.compile(r"[0-9a-f]{64}")
_ADDRESS = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+")
_REASONS = ", ".join(Cause)


class Unreadable(Exception):
    """A list with invalid lines. Each text states the line, the problem and the remedy."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self.lines = lines


def hash_of(given: str) -> str:
    """Hash an address. A value that is already a hash, keyed or not, is returned unchanged. Raises
    Unreadable.
    """
    text = given.strip()
    hashed = text.lower()
    if _HASH.fullmatch(hashed) or KEYED_HASH.fullmatch(hashed):
        return hashed
    if _ADDRESS.fullmatch(text):
        return address_hash(text)
    raise Unreadable(
        f"{printable(text)!r} is neither an address, such as ann@example.com, nor a hash. A hash "
        "has 64 hexadecimal digits, with the prefix h in the output of `list`"
    )


def instant_of(given: str) -> datetime:
    """Parse a date in UTC, or an instant with a time zone. Raises Unreadable."""
    try:
        instant = read_instant(given.strip())
    except ValueError as err:
        raise Unreadable(
            f"{printable(given)!r} is not a date. Specify a date such as 2026-11-21 or "
            "2026-11-21T08:00:00Z"
        ) from err
    if instant.tzinfo is None:
        if len(given.strip()) > len("2026-11-21"):
            raise Unreadable(f"{printable(given)!r} has no time zone. Add Z for UTC")
        instant = instant.replace(tzinfo=UTC)
    return instant


def read_list(lines: Iterable[str], *, now: datetime) -> Iterator[Suppression]:
    """Yield the rows of a CSV file with a header line. The columns are `address` or `address_hash`,
    and optionally `reason` and `since`.

    The defaults are the reason `manual` and the time `now`. Raises Unreadable at the end, which
    lists every invalid line.
    """
    rows = csv.reader(lines, strict=True)
    problems: list[str] = []
    try:
        heading = [name.strip().lower() for name in next(rows, [])]
        _check(heading)
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            try:
                yield _suppression(heading, row, now)
            except Unreadable as err:
                problems.append(f"line {rows.line_num}: {err}")
    except (csv.Error, UnicodeDecodeError) as err:
        problems.append(f"line {rows.line_num + 1}: not CSV in UTF-8 ({err})")
    if problems:
        raise Unreadable(*problems)


def write_list(entries: Iterable[Suppression], to: TextIO) -> Iterator[Suppression]:
    """Write the header line, then write each suppression as soon as it is read."""
    rows = csv.writer(to, lineterminator="\n")
    rows.writerow(COLUMNS)
    for each in entries:
        rows.writerow((each.address, each.cause.value, _counts_since(each).isoformat()))
        yield each


def write_json(entries: Iterable[Suppression]) -> Iterator[Suppression]:
    """Write one JSON object per line."""
    for each in entries:
        give_line(
            {"address_hash": each.address, "reason": each.cause, "since": _counts_since(each)}
        )
        yield each


def _counts_since(suppression: Suppression) -> datetime:
    """Return the time to write: of an unsubscription the latest, with which consents compare."""
    is_left = suppression.cause is Cause.UNSUBSCRIBED
    return suppression.last_left_at if is_left else suppression.since


def _check(heading: list[str]) -> None:
    unknown = [name for name in heading if name not in _READ]
    named = {"address", "address_hash"} & set(heading)
    if unknown or len(named) != 1 or len(set(heading)) != len(heading):
        raise Unreadable(
            "line 1: the header must contain the column `address` or `address_hash`, and may "
            f"contain `reason` and `since`. It is {printable(','.join(heading))!r}"
        )


def _suppression(heading: list[str], row: list[str], now: datetime) -> Suppression:
    if len(row) != len(heading):
        raise Unreadable(f"{len(row)} cells, but the header line has {len(heading)} columns")
    return suppression_of(dict(zip(heading, (cell.strip() for cell in row), strict=True)), now)


def suppression_of(cells: Mapping[str, str], now: datetime) -> Suppression:
    """Return the suppression in the fields of an entry. Raises Unreadable."""
    reason = cells.get("reason") or Cause.MANUAL.value
    if reason not in set(Cause):
        raise Unreadable(f"reason is {printable(reason)!r}; it must be one of {_REASONS}")
    since = instant_of(cells["since"]) if cells.get("since") else now
    if since > now:
        raise Unreadable(f"since is {since.isoformat()}, which is in the future")
    address = hash_of(cells.get("address") or cells.get("address_hash") or "")
    return Suppression(address, Cause(reason), since)
