"""Push a template version, roll it out, and roll it back."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gazette.domain.errors import Overtaken, Unavailable
from gazette.domain.ports.clock import Clock
from gazette.domain.templates.ports import BundleStore, TemplateVersions
from gazette.domain.templates.settings import VersionSettings
from gazette.domain.templates.versions import DEPLOYED, InForce, PushedVersion, Version

from gazette_support.domain.templates import changes
from gazette_support.domain.templates.changes import Changed, InvalidRollout
from gazette_support.domain.templates.history import current_before


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplatesContext:
    """A stage's template versions and their bundles."""

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
    """The release that the stage runs."""

    layer: str = ""
    """The layer that the stage uses."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """The result of a push."""

    in_force: InForce
    version: PushedVersion
    is_new: bool
    """True if this push stored the version."""

    changes: bool
    """True if the push changed the versions in force."""


def refuse_push(before: InForce) -> None:
    """Raise InvalidRollout if a candidate is being rolled out, because only one is allowed at a
    time."""
    if candidate := before.candidate:
        raise InvalidRollout(
            f"version {candidate.version.number} is being rolled out to {candidate.percent} % of "
            "the readers. Run `gazette templates rollout 100` to complete the rollout, or "
            "`gazette templates rollback` to withdraw the version"
        )


def push(
    bundle: Bundle,
    percent: int,
    *,
    by: str,
    context: TemplatesContext,
    seen: InForce | None = None,
) -> Pushed:
    """Store a bundle, and put it in force for `percent` of the readers.

    If it fails between the two steps, the versions in force do not change, and repeating the push
    continues with the stored bundle. Raises InvalidRollout. Raises Overtaken if another user has
    changed the versions at the same time or since `seen`. In both cases, the versions in force do
    not change.
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
    """Roll out the candidate to `percent` of the readers.

    `seen` has the same meaning as in `roll_back`. Raises InvalidRollout and Overtaken.
    """
    before = _in_force(seen, context)
    changed = changes.rolled_out(before, percent, at=context.clock(), by=by)
    return _put_in_force(before, changed, context)


def roll_back(
    to: int | None, *, by: str, context: TemplatesContext, seen: InForce | None = None
) -> InForce:
    """Withdraw the candidate, or put the version `to` in force for all readers.

    Without `to` and a candidate, the version that was previously in force for all readers is used.
    `seen` contains the versions in force when the user confirmed; None skips this check. Raises
    Overtaken. Raises InvalidRollout, also for a version whose bundle cannot be read.
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
            f"the bundle of version {to} is missing or damaged; choose another version from "
            "`gazette templates list`"
        )
    return _put_in_force(before, changed, context)


def versions_in(in_force: InForce, *, versions: TemplateVersions) -> Sequence[PushedVersion]:
    """Return the pushed versions among the versions in force, from the history."""
    candidate = in_force.candidate
    both = (in_force.current, *([candidate.version] if candidate else ()))
    pushed = (versions.find(each.number) for each in both if not each.is_deployed)
    return [each for each in pushed if each]


def version_by_number(number: int, *, versions: TemplateVersions) -> Version:
    """Return a version from the history, or the deployed version. Raises InvalidRollout."""
    return DEPLOYED if number == DEPLOYED.number else _pushed(number, versions).version


def _in_force(seen: InForce | None, context: TemplatesContext) -> InForce:
    """Return the versions in force.

    Raises Overtaken if they differ from the versions that the user has seen.
    """
    current = context.versions.in_force()
    if seen is not None and current != seen:
        raise Overtaken(
            "Another user has changed the versions in force, so no change was made. Run `gazette "
            "templates list`, then try again."
        )
    return current


def _pushed(number: int, versions: TemplateVersions) -> PushedVersion:
    version = versions.find(number)
    if version is None:
        raise InvalidRollout(
            f"version {number} does not exist; run `gazette templates list` to see all versions"
        )
    return version


def _same(bundle: Bundle, history: Sequence[PushedVersion]) -> PushedVersion | None:
    """Return a version with the same content that was pushed since the stage was last deployed.

    A version that was pushed before the deployment was made for different code.
    """
    for each in history:
        if (each.version.checksum, each.layer) == (bundle.checksum, bundle.layer):
            return each
    return None


def _store(bundle: Bundle, by: str, context: TemplatesContext) -> PushedVersion:
    """Store a version under the next number: first the bundle, then the row that names it."""
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
        f"Another user has pushed version {number} at the same time, so your version is not in "
        "force. Run `gazette templates list`, then push again."
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
            "Another user has changed the versions in force at the same time, so your version is "
            "not in force. Run `gazette templates list`, then try again."
        )
    return after
