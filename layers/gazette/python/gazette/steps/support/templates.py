"""Push a version of the templates, roll it out, and take it back."""

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
    """A bundle as it is about to be pushed.

    `checksum`: of `content`. `release` and `layer`: what the stage works with (PushedVersion).
    """

    content: bytes
    checksum: str
    settings: VersionSettings
    note: str = ""
    release: str = ""
    layer: str = ""


@dataclass(frozen=True, slots=True)
class Pushed:
    """`is_new`: whether it was stored just now. `changes`: whether something else is in force."""

    in_force: InForce
    version: PushedVersion
    is_new: bool
    changes: bool


def refuse_push(before: InForce) -> None:
    """Raise InvalidRollout while a candidate is rolled out: there is one at a time."""
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

    What breaks off between the two leaves nothing in force; the same push then goes on with what
    was stored. Raises InvalidRollout, and Overtaken if somebody else has changed something at the
    same time, or since `seen`: nothing is in force then that was not before.
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
    """Take the candidate back, or put the version `to` in force for everybody.

    Without a number and a candidate it is the version that was in force for everybody before.
    `seen`: what was in force when a person confirmed this; None: whatever is now. Raises
    InvalidRollout, also for a version whose bundle cannot be read, and Overtaken.
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
    """The versions in force that were pushed, as the history has them."""
    candidate = in_force.candidate
    both = (in_force.current, *([candidate.version] if candidate else ()))
    found = (versions.find(each.number) for each in both if not each.is_deployed)
    return [each for each in found if each]


def version_by_number(number: int, *, versions: TemplateVersions) -> Version:
    """A version of the history, or what was deployed. Raises InvalidRollout."""
    return DEPLOYED if number == DEPLOYED.number else _pushed(number, versions).version


def _in_force(seen: InForce | None, context: TemplatesContext) -> InForce:
    """What is in force. Raises Overtaken if that is not what somebody has seen."""
    found = context.versions.in_force()
    if seen is not None and found != seen:
        raise Overtaken(
            "Somebody else has changed what is in force meanwhile, so nothing was done: "
            "look at `gazette templates list`, then try again."
        )
    return found


def _pushed(number: int, versions: TemplateVersions) -> PushedVersion:
    found = versions.find(number)
    if found is None:
        raise InvalidRollout(
            f"there is no version {number}; `gazette templates list` shows those that there are"
        )
    return found


def _same(bundle: Bundle, history: Sequence[PushedVersion]) -> PushedVersion | None:
    """The same content, pushed since the stage was deployed: before, it was made for other code."""
    for each in history:
        if (each.version.checksum, each.layer) == (bundle.checksum, bundle.layer):
            return each
    return None


def _store(bundle: Bundle, by: str, context: TemplatesContext) -> PushedVersion:
    """Under the next number: first its bundle, then the row by which it is found."""
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
    # Its own answer may have been lost, or somebody else took the number.
    if same := _same(bundle, context.versions.history()):
        return same
    raise Overtaken(
        f"Somebody else has pushed version {number} at the same time. Nothing of yours is in "
        "force: look at `gazette templates list`, then push again."
    )


def _is_whole(content: bytes | None, version: Version) -> bool:
    return content is not None and hashlib.sha256(content).hexdigest() == version.checksum


def _store_again_if_lost(version: Version, content: bytes, bundles: BundleStore) -> None:
    try:
        is_stored = _is_whole(bundles.get(version), version)
    except Unavailable:  # to who may not list the bucket, S3 denies what is missing
        is_stored = False
    if not is_stored:
        bundles.put(version, content)


def _put_in_force(before: InForce, changed: Changed, context: TemplatesContext) -> InForce:
    after, entry = changed
    if not context.versions.change(before, after, entry) and context.versions.in_force() != after:
        raise Overtaken(
            "Somebody else has changed what is in force at the same time, and yours is not: look "
            "at `gazette templates list`, then try again."
        )
    return after
