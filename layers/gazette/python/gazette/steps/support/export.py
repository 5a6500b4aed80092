"""Export everything that is stored on a person, page by page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gazette.domain.export import Cursor, ExportPage, Part, StoredRow, read_cursor
from gazette.domain.identity import address_hash, run_id
from gazette.domain.model import RunKey
from gazette.domain.ports.personal_rows import PersonalRows

MOST_ROWS = 100
"""The maximum number of rows on a page, excluding delivery events."""


def export_page(
    user_id: str, cursor: str = "", *, limit: int = MOST_ROWS, rows: PersonalRows
) -> ExportPage:
    """Return one page of the rows of a person, and the cursor of the next page.

    The profile is read again for each page. Without a profile, rows can still be stored: events
    that wait for the profile, and rows that an interrupted erasure has not yet deleted. Empty pages
    of such a person are skipped. Emails from before an erasure are left out, because the user id
    may have belonged to another person. Raises InvalidCursor.
    """
    place = read_cursor(cursor, user_id)
    profile = rows.profile(user_id)
    is_known = profile is not None and not profile.values.keys() <= {"user_id", "erased_at"}
    if place.part is Part.SUBSCRIBERS:
        if profile and is_known:
            first = [profile, *_of_address(profile, user_id, rows)]
            return ExportPage(user_id, first, _next_part(place))
        place = Cursor(user_id, Part.SCHEDULES)
    while True:
        if place.part is Part.RUNS and profile and not is_known:
            return ExportPage(user_id, (), None)  # emails from before the erasure
        page, after = rows.page(user_id, place.part, after=place.after, limit=limit)
        erased_at = profile.values.get("erased_at") if profile else None
        if place.part is Part.RUNS and isinstance(erased_at, str):
            page = _since(erased_at, page)
        following = replace(place, after=after) if after else _next_part(place)
        if page or is_known or following is None:
            return ExportPage(user_id, page, following)
        place = following


def _next_part(place: Cursor) -> Cursor | None:
    parts = list(Part)
    number = parts.index(place.part) + 1
    return Cursor(place.user_id, parts[number]) if number < len(parts) else None


def _of_address(profile: StoredRow, user_id: str, rows: PersonalRows) -> Sequence[StoredRow]:
    """Return the rows of the profile's address, without the ids of other readers of the address."""
    email = profile.values.get("email")
    if not isinstance(email, str):
        return ()
    return [
        replace(row, values=_without_others(row.values, user_id))
        for row in rows.of_address(address_hash(email))
    ]


def _without_others(values: Mapping[str, object], user_id: str) -> Mapping[str, object]:
    own = dict(values)
    if isinstance(readers := values.get("by"), list):
        own["by"] = [each for each in readers if each == user_id]
    if isinstance(bounced := values.get("messages"), list):
        # The time of each message; its id can contain the user id of another reader.
        own["messages"] = [str(each).partition(" ")[0] for each in bounced]
    return own


def _since(erased_at: str, page: Sequence[StoredRow]) -> Sequence[StoredRow]:
    """Return the runs that were due after the erasure, and their delivery events.

    Instants of all rows have the same format, so that they sort as text. The runs come first.
    """
    later, engaged = list[StoredRow](), set[str]()
    for row in page:
        if row.table != Part.RUNS:
            if row.values["run"] in engaged:
                later.append(row)
        elif str(row.values.get("due_at", "")) > erased_at:
            later.append(row)
            engaged.add(_run_id(row))
    return later


def _run_id(row: StoredRow) -> str:
    """Return the id by which delivery events name the run; empty for a malformed key."""
    schedule, _, sequence = str(row.values["run"]).partition("#")
    if not sequence.isdecimal():
        return ""
    return run_id(RunKey(str(row.values["user_id"]), schedule, int(sequence)))
