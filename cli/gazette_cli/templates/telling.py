"""The output of a push, a rollout or a rollback."""

from collections.abc import Mapping, Sequence

from gazette.adapters.templates.bundle import checksum_of
from gazette.domain.templates.settings import VersionSettings
from gazette.domain.templates.versions import EVERYBODY, InForce

from gazette_cli.shared.answers import tell
from gazette_cli.shared.console import NotPossible, note, say
from gazette_cli.templates.comparing import document
from gazette_cli.templates.differences import FileDifference
from gazette_cli.templates.listing import in_force_document
from gazette_cli.templates.pushing import Packed
from gazette_cli.templates.stage import in_words_of, named
from gazette_support.steps.templates import Pushed

_FEW = 10
"""The maximum number of files to list by name."""

SOON = (
    "Workers apply the change within a minute. Emails that a worker has already claimed keep "
    "their version, even if they are sent again."
)


def nothing_to_push(before: InForce, percent: int, bundle: Packed) -> None:
    """Report that the bundle equals the version in force. This is not an error, so that pipelines
    succeed.

    Raises NotPossible if a rollout was requested.
    """
    same = f"these templates are the same as {named(before.current)}, which all readers get"
    if percent != EVERYBODY:
        raise NotPossible(f"{same[:1].upper()}{same[1:]}. There is nothing to roll out.")
    tell(
        f"nothing to push: {same}",
        **_document(before, changed=False),
        pushed=None,
        uploaded=False,
        checksum=checksum_of(bundle.content),
        bytes=len(bundle.content),
        files=[],
        settings=[],
    )


def show_changes(
    before: InForce, changes: Sequence[FileDifference], settings: VersionSettings
) -> None:
    """Print the files and settings that differ from the version in force."""
    for each in changes[:_FEW]:
        say(f"{each.change}: {each.path} (+{each.added} -{each.removed})")
    if len(changes) > _FEW:
        note(
            f"{len(changes) - _FEW} more files differ. To see all of them, run `gazette "
            "templates diff`."
        )
    for name, was, becomes in _settings_changes(before.current.settings, settings):
        say(f"setting {name}: {_value(was)} -> {_value(becomes)}")


def _settings_changes(
    before: VersionSettings, after: VersionSettings
) -> list[tuple[str, object, object]]:
    """Return the names of changed settings, with the values before and after the change. None means
    that the stage's value applies.
    """
    was, becomes = before.as_written(), after.as_written()
    return [
        (name, was.get(name), becomes.get(name))
        for name in sorted(was.keys() | becomes.keys())
        if was.get(name) != becomes.get(name)
    ]


def _value(value: object) -> str:
    return "the stage's value" if value is None else str(value)


def tell_pushed(
    outcome: Pushed, before: InForce, changes: Sequence[FileDifference], stage: str
) -> None:
    """Print the outcome of a push."""
    pushed = outcome.version
    tell(
        f"{in_words_of(outcome.in_force)}, in stage {stage}",
        **_document(outcome.in_force, changed=outcome.changes),
        pushed=pushed.version.number,
        uploaded=outcome.is_new,
        checksum=pushed.version.checksum,
        bytes=pushed.size,
        files=[*map(document, changes)],
        settings=[
            {"setting": name, "before": was, "after": becomes}
            for name, was, becomes in _settings_changes(
                before.current.settings, pushed.version.settings
            )
        ],
    )
    note(SOON)
    if not outcome.is_new:
        note(f"Version {pushed.version.number} was already stored, so it was not uploaded again.")


def tell_in_force(in_force: InForce, stage: str, *, changed: bool) -> None:
    """Print the versions in force."""
    tell(f"{in_words_of(in_force)}, in stage {stage}", **_document(in_force, changed=changed))


def _document(in_force: InForce, *, changed: bool) -> Mapping[str, object]:
    return {"in_force": in_force_document(in_force), "changed": changed}
