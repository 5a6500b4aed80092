"""Push a version of the templates, roll it out, and roll it back."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gazette.domain.errors import Overtaken, Unavailable
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.templates import BundleStore, TemplateVersions
from gazette.domain.templates import changes
from gazette.domain.templates.changes import Changed, InvalidRollout
from gazette.domain.templates.history import current_before
from gazette.domain.templates.settings import VersionSettings
from gazette.domain.templates.versions import DEPLOYED, InForce, PushedVersion, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplatesContext:
    """The versions of a stage and their bundles."""

    versions: TemplateVersions
    bundles: BundleStore
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle to push."""

    content: bytes
    checksum: str
    """The checksum of `content`."""

    settings: VersionSettings
    note: str = ""
    release: str = ""
    """The release of the stage (PushedVersion)."""

    layer: str = ""
    """The layer of the stage (PushedVersion)."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """The result of a push."""

    in_force: InForce
    version: PushedVersion
    is_new: bool
    """True if the version was stored by this push."""

    changes: bool
    """True if the versions in force changed."""


def refuse_push(before: InForce) -> None:
    """Raise InvalidRollout while a candidate is rolled out, because only one is allowed at a
    time."""
    if candidate := before.candidate:
        raise InvalidRollout(
            f"version {candidate.version.number} is being rolled out to {candidate.percent} % of "
            "the readers; `gazette templates rollout 100` gives it to everybody, "
            "`gazette templates rollback` takes it back"
        )


def push(
    bundle: Bundle,
    percent: int,
    *,
    by: str,
    context: TemplatesContext,
    seen: InForce | None = None,
) -> Pushed:
    """Store a bundle, and then put it in force for `percent` of the readers.

    If it fails between the two, the versions in force are unchanged, and the same push then
    continues with the stored bundle. Raises InvalidRollout, and Overtaken if another user has
    changed the versions at the same time, or since `seen`. The versions in force are then
    unchanged.
    """
    before = _in_force(seen, context)
    refuse_push(before)
    known = _same(bundle, context.versions.history())
    if known:
        _store_again_if_lost(known.version, bundle.content, context.bundles)
    if known and known.version == before.current:
        return Pushed(before, known, is_new=False, changes=False)
    version = known or _store(bundle, by, context)
    after, entry = changes.pushed(before, version.version, percent, at=context.clock(), by=by)
    _put_in_force(before, (after, replace(entry, note=bundle.note)), context)
    return Pushed(after, version, is_new=known is None, changes=True)


def roll_out(
    percent: int, *, by: str, context: TemplatesContext, seen: InForce | None = None
) -> InForce:
    """Give the candidate to `percent` of the readers. `seen`: as in `roll_back`.

    Raises InvalidRollout and Overtaken.
    """
    before = _in_force(seen, context)
    changed = changes.rolled_out(before, percent, at=context.clock(), by=by)
    return _put_in_force(before, changed, context)


def roll_back(
    to: int | None, *, by: str, context: TemplatesContext, seen: InForce | None = None
) -> InForce:
    """Withdraw the candidate, or put the version `to` in force for all readers.

    Without a number and a candidate, this is the version that was in force for all readers before.
    `seen`: the versions in force when the user confirmed; None: any. Raises InvalidRollout, also
    for a version whose bundle cannot be read, and Overtaken.
    """
    before, at = _in_force(seen, context), context.clock()
    if to is None and before.candidate:
        return _put_in_force(before, changes.taken_back(before, at=at, by=by), context)
    if to is None:
        to = current_before(before.current.number, context.versions.changes())
    version = DEPLOYED if to == DEPLOYED.number else _pushed(to, context.versions).version
    changed = changes.rolled_back(before, version, at=at, by=by)
    if not version.is_deployed and not _is_whole(context.bundles.get(version), version):
        raise InvalidRollout(
            f"the bundle of version {to} is lost or damaged; choose another of those that "
            "`gazette templates list` shows"
        )
    return _put_in_force(before, changed, context)


def versions_in(in_force: InForce, *, versions: TemplateVersions) -> Sequence[PushedVersion]:
    """Return the pushed versions among those in force, from the history."""
    candidate = in_force.candidate
    both = (in_force.current, *([candidate.version] if candidate else ()))
    pushed = (versions.find(each.number) for each in both if not each.is_deployed)
    return [each for each in pushed if each]


def version_by_number(number: int, *, versions: TemplateVersions) -> Version:
    """Return a version of the history, or the deployed one. Raises InvalidRollout."""
    return DEPLOYED if number == DEPLOYED.number else _pushed(number, versions).version


def _in_force(seen: InForce | None, context: TemplatesContext) -> InForce:
    """Return the versions in force.

    Raises Overtaken if they are not those that the user has seen.
    """
    current = context.versions.in_force()
    if seen is not None and current != seen:
        raise Overtaken(
            "Another user has changed the versions in force meanwhile, so no change was made. "
            "See `gazette templates list`, then try again."
        )
    return current


def _pushed(number: int, versions: TemplateVersions) -> PushedVersion:
    version = versions.find(number)
    if version is None:
        raise InvalidRollout(
            f"there is no version {number}; `gazette templates list` shows all versions"
        )
    return version


def _same(bundle: Bundle, history: Sequence[PushedVersion]) -> PushedVersion | None:
    """Return a version with the same content that was pushed since the stage was deployed.

    A version that was pushed before was made for other code.
    """
    for each in history:
        if (each.version.checksum, each.layer) == (bundle.checksum, bundle.layer):
            return each
    return None


def _store(bundle: Bundle, by: str, context: TemplatesContext) -> PushedVersion:
    """Store a version under the next number: first its bundle, then the row that names it."""
    history = context.versions.history()
    number = max((each.version.number for each in history), default=DEPLOYED.number) + 1
    version = PushedVersion(
        Version(number, bundle.checksum, bundle.settings),
        size=len(bundle.content),
        pushed_at=context.clock(),
        pushed_by=by,
        note=bundle.note,
        release=bundle.release,
        layer=bundle.layer,
    )
    context.bundles.put(version.version, bundle.content)
    if context.versions.add(version):
        return version
    # The answer of `add` may have been lost, or another user took the number.
    if same := _same(bundle, context.versions.history()):
        return same
    raise Overtaken(
        f"Another user has pushed version {number} at the same time. Your version is not in "
        "force. See `gazette templates list`, then push again."
    )


def _is_whole(content: bytes | None, version: Version) -> bool:
    return content is not None and hashlib.sha256(content).hexdigest() == version.checksum


def _store_again_if_lost(version: Version, content: bytes, bundles: BundleStore) -> None:
    try:
        is_stored = _is_whole(bundles.get(version), version)
    except Unavailable:  # without permission to list the bucket, S3 denies missing objects
        is_stored = False
    if not is_stored:
        bundles.put(version, content)


def _put_in_force(before: InForce, changed: Changed, context: TemplatesContext) -> InForce:
    after, entry = changed
    if not context.versions.change(before, after, entry) and context.versions.in_force() != after:
        raise Overtaken(
            "Another user has changed the versions in force at the same time, and your version is "
            "not in force. See `gazette templates list`, then try again."
        )
    return after
