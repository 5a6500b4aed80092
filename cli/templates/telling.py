"""What a push, a rollout and a rollback tell: what differs, and which readers get what."""

from collections.abc import Mapping, Sequence

from gazette.adapters.templates.bundle import checksum_of
from gazette.domain.templates.settings import VersionSettings
from gazette.domain.templates.versions import EVERYBODY, InForce
from gazette.steps.support.templates import Pushed

from cli.shared.answers import tell
from cli.shared.console import NotPossible, note, say
from cli.templates.comparing import document
from cli.templates.differences import FileDifference
from cli.templates.listing import in_force_document
from cli.templates.pushing import Packed
from cli.templates.stage import in_words_of, named

_FEW = 10
"""Files that are named one by one."""

SOON = (
    "Workers take it up within a minute. An email that was claimed before keeps its version, also "
    "when it is sent again."
)


def nothing_to_push(before: InForce, percent: int, bundle: Packed) -> None:
    """The same as what is in force. A pipeline that pushes each commit goes on."""
    same = f"{named(before.current)} is the same, and in force for everybody"
    if percent != EVERYBODY:
        raise NotPossible(f"{same[:1].upper()}{same[1:]}: there is nothing to roll out.")
    tell(
        f"{same}: nothing to push",
        **_document(before, changed=False),
        pushed=None,
        uploaded=False,
        checksum=checksum_of(bundle.content),
        bytes=len(bundle.content),
        files=[],
        settings=[],
    )


def show_changes(
    before: InForce, found: Sequence[FileDifference], settings: VersionSettings
) -> None:
    """Which files and settings differ from what is in force."""
    for each in found[:_FEW]:
        say(f"{each.change}: {each.path} (+{each.added} -{each.removed})")
    if len(found) > _FEW:
        note(f"And {len(found) - _FEW} files more: `gazette templates diff` shows all of them.")
    for name, was, becomes in _settings_changes(before.current.settings, settings):
        say(f"setting {name}: {_said(was)} -> {_said(becomes)}")


def _settings_changes(
    before: VersionSettings, after: VersionSettings
) -> list[tuple[str, object, object]]:
    """Name, value before and after; None: as the stage has it."""
    was, becomes = before.as_written(), after.as_written()
    return [
        (name, was.get(name), becomes.get(name))
        for name in sorted(was.keys() | becomes.keys())
        if was.get(name) != becomes.get(name)
    ]


def _said(value: object) -> str:
    return "as the stage" if value is None else str(value)


def tell_pushed(done: Pushed, before: InForce, found: Sequence[FileDifference], stage: str) -> None:
    pushed = done.version
    tell(
        f"{in_words_of(done.in_force)}, in stage {stage}",
        **_document(done.in_force, changed=done.changes),
        pushed=pushed.version.number,
        uploaded=done.is_new,
        checksum=pushed.version.checksum,
        bytes=pushed.size,
        files=[*map(document, found)],
        settings=[
            {"setting": name, "before": was, "after": becomes}
            for name, was, becomes in _settings_changes(
                before.current.settings, pushed.version.settings
            )
        ],
    )
    note(SOON)
    if not done.is_new:
        note(f"Version {pushed.version.number} was stored before: it was not uploaded again.")


def tell_in_force(in_force: InForce, stage: str, *, changed: bool) -> None:
    """Which readers get which version now."""
    tell(f"{in_words_of(in_force)}, in stage {stage}", **_document(in_force, changed=changed))


def _document(in_force: InForce, *, changed: bool) -> Mapping[str, object]:
    return {"in_force": in_force_document(in_force), "changed": changed}
