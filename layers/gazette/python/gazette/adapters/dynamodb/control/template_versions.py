"""Rows for template versions, for the versions in force, and for the history of changes."""

import json
from collections.abc import Sequence

from pynamodb.expressions.condition import Condition

from gazette.adapters.dynamodb.client import (
    ConditionFailed,
    bind,
    decoded,
    read_row,
    transaction,
    translated,
    written,
)
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.stored import as_stored
from gazette.domain.templates.settings import Ranges, VersionSettings, version_settings
from gazette.domain.templates.versions import (
    DEPLOYED,
    NOTHING_PUSHED,
    Act,
    Candidate,
    Change,
    InForce,
    PushedVersion,
    Version,
)

IN_FORCE = ("templates", "in_force")
_VERSION = "template_version"
_CHANGE = "template_change"


class DynamoTemplateVersions:
    """Implementation of the `TemplateVersions` port backed by rows of the `control` table.

    `ranges` contains the allowed values of numeric settings. A row with a value outside its range
    is unreadable.
    """

    def __init__(self, table_name: str, *, ranges: Ranges) -> None:
        bind(ControlRow, table_name)
        self._ranges = ranges

    def in_force(self) -> InForce:
        """Read the active versions with one strongly consistent GetItem.

        Raises UnreadableRow for a malformed row.
        """
        return in_force_of(read_row(ControlRow, *IN_FORCE), ranges=self._ranges)

    def change(self, before: InForce, after: InForce, entry: Change) -> bool:
        """Change the active versions with one TransactWriteItems if the revision has not
        changed.
        """
        try:
            with transaction(ControlRow) as writes:
                writes.save(_in_force_row(after), _as_read(before))
                writes.save(_change_row(entry), ControlRow.kind.does_not_exist())
        except ConditionFailed:
            return False
        return True

    def changes(self) -> Sequence[Change]:
        """Read the history of changes with one strongly consistent Query."""
        return [
            decoded(row, _change, needs=("since", "what", "by", "version"))
            for row in self._all(_CHANGE)
        ]

    def add(self, pushed: PushedVersion) -> bool:
        """Store a pushed version with one conditional PutItem."""
        return written(_version_row(pushed).save, ControlRow.kind.does_not_exist())

    def find(self, number: int) -> PushedVersion | None:
        """Read a version with one strongly consistent GetItem."""
        row = read_row(ControlRow, _VERSION, _numbered(number))
        return self._decoded(row) if row else None

    def history(self) -> Sequence[PushedVersion]:
        """Read all pushed versions with one strongly consistent Query."""
        return [self._decoded(row) for row in self._all(_VERSION)]

    @staticmethod
    def _all(kind: str) -> Sequence[ControlRow]:
        with translated():
            return list(ControlRow.query(kind, consistent_read=True, scan_index_forward=False))

    def _decoded(self, row: ControlRow) -> PushedVersion:
        return decoded(row, self._pushed, needs=("since", "by", "checksum", "bytes"))

    def _pushed(self, row: ControlRow) -> PushedVersion:
        return PushedVersion(
            Version(int(row.id), row.checksum, _settings(row.settings, self._ranges)),
            int(row.bytes),
            row.since,
            row.by,
            row.why or "",
            row.release or "",
            row.layer or "",
        )


def in_force_of(row: ControlRow | None, *, ranges: Ranges) -> InForce:
    """Return the active versions from their row, or the deployed version if there is no row.

    Raises UnreadableRow.
    """
    if row is None:
        return NOTHING_PUSHED
    return decoded(
        row, lambda read: _in_force(read, ranges), needs=("since", "by", "version", "revision")
    )


def _in_force(row: ControlRow, ranges: Ranges) -> InForce:
    candidate = None
    if row.candidate is not None:
        version = Version(
            int(row.candidate),
            row.candidate_checksum or "",
            _settings(row.candidate_settings, ranges),
        )
        candidate = Candidate(version, int(row.percent))
    number = int(row.version)
    current = (
        Version(number, row.checksum or "", _settings(row.settings, ranges)) if number else DEPLOYED
    )
    return InForce(current, candidate, int(row.revision), row.since, row.by)


def _as_read(before: InForce) -> Condition:
    if before == NOTHING_PUSHED:
        return ControlRow.kind.does_not_exist()
    unchanged: Condition = ControlRow.revision == before.revision
    return unchanged


def _in_force_row(after: InForce) -> ControlRow:
    current, candidate = after.current, after.candidate
    return ControlRow(
        *IN_FORCE,
        revision=after.revision,
        since=after.changed_at,
        by=after.changed_by,
        version=current.number,
        checksum=current.checksum or None,
        settings=_written(current.settings),
        candidate=candidate.version.number if candidate else None,
        candidate_checksum=candidate.version.checksum if candidate else None,
        candidate_settings=_written(candidate.version.settings) if candidate else None,
        percent=candidate.percent if candidate else None,
    )


def _version_row(pushed: PushedVersion) -> ControlRow:
    version = pushed.version
    return ControlRow(
        _VERSION,
        _numbered(version.number),
        since=pushed.pushed_at,
        by=pushed.pushed_by,
        why=pushed.note or None,
        checksum=version.checksum,
        settings=_written(version.settings),
        bytes=pushed.size,
        release=pushed.release or None,
        layer=pushed.layer or None,
    )


def _change_row(entry: Change) -> ControlRow:
    return ControlRow(
        _CHANGE,
        _numbered(entry.revision),
        since=entry.at,
        by=entry.by,
        what=entry.act.value,
        why=entry.note or None,
        version=entry.current,
        candidate=entry.candidate or None,
        percent=entry.percent if entry.candidate else None,
    )


def _change(row: ControlRow) -> Change:
    return Change(
        int(row.id),
        as_stored(Act, row.what),
        row.since,
        row.by,
        current=int(row.version),
        candidate=int(row.candidate or 0),
        percent=int(row.percent or 0),
        note=row.why or "",
    )


def _numbered(number: int) -> str:
    """Return the number as text, padded with zeros so that the texts sort in numeric order."""
    return f"{number:06d}"


def _written(settings: VersionSettings) -> str | None:
    values = settings.as_written()
    return json.dumps(values, sort_keys=True) if values else None


def _settings(text: str | None, ranges: Ranges) -> VersionSettings:
    return version_settings(json.loads(text or "{}"), ranges=ranges)
