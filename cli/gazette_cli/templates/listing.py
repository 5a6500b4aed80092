"""`gazette templates list`: list versions, the readers who get them, and the log of changes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated

import typer
from gazette.domain.scheduling.instants import moment
from gazette.domain.templates.versions import DEPLOYED, Change, InForce, PushedVersion, Version

from gazette_cli.shared.answers import NOTHING, Document, Rows, Shown
from gazette_cli.shared.console import note, say, wants_json
from gazette_cli.shared.deployed import StageName, layers
from gazette_cli.templates.stage import in_words_of, named, refusals, versions_of

_SHORT = 12
"""The number of characters of a checksum that the list shows."""

_COLUMNS = {
    "version": "version",
    "readers": "readers",
    "pushed_at": "pushed at",
    "by": "author",
    "note": "note",
    "settings": "settings",
    "bytes": "bytes",
    "checksum": "checksum",
    "release": "",
    "layer": "",
}

_LOG_COLUMNS = {
    "at": "time",
    "by": "author",
    "what": "change",
    "version": "in force",
    "candidate": "candidate",
    "percent": "percent",
    "note": "note",
}


def show(
    stage: StageName = "prod",
    log: Annotated[
        bool,
        typer.Option("--log", help="List each change of the version in force, latest first."),
    ] = False,
) -> None:
    """List the versions of the templates, with the author and the readers of each version.

    Version 0 is the deployed version. With `--log`, the command instead lists each change of the
    version in force.
    """
    with refusals(stage):
        context = versions_of(stage)
        in_force, history = context.versions.in_force(), context.versions.history()
        changes = context.versions.changes()
    deployed = layers(stage, "generate")
    say(f"{in_words_of(in_force)}{_since(in_force)}")
    state = {
        "in_force": in_force_document(in_force),
        "deployed_since": is_deployed_since(in_force, history, deployed),
    }
    versions, entries = _versions(in_force, history), _log(changes)
    if wants_json():
        versions.show(log=entries.document, **state)
    elif log:
        entries.show()
    else:
        versions.show()
    if sentence := deployed_since(in_force, history, deployed):
        note(sentence)


def in_force_document(in_force: InForce) -> Document:
    """Return the versions in force as JSON output. `percent` is the share of readers with the
    candidate.
    """
    candidate = in_force.candidate
    return {
        "version": in_force.current.number,
        "candidate": candidate.version.number if candidate else None,
        "percent": candidate.percent if candidate else None,
        "since": in_force.changed_at,
        "by": in_force.changed_by or None,
    }


def is_deployed_since(
    in_force: InForce, history: Sequence[PushedVersion], layers: Collection[str]
) -> bool:
    """Return True if the stage was deployed after the push of a version in force.

    `layers` are the ARNs of the layers that the stage uses.
    """
    candidate = in_force.candidate
    versions = {in_force.current, *([candidate.version] if candidate else ())}
    return any(
        each.version in versions and each.layer and each.layer not in layers for each in history
    )


def deployed_since(
    in_force: InForce, history: Sequence[PushedVersion], layers: Collection[str]
) -> str:
    """Explain the effect and the remedy if the stage was deployed after a push. Otherwise, return
    "".
    """
    if not is_deployed_since(in_force, history, layers):
        return ""
    if in_force.current.is_deployed:
        return (
            "The stage was deployed after the candidate was pushed, and readers of the "
            "candidate do not get the deployed templates. End the rollout, and push the "
            "candidate again from the deployed release."
        )
    return (
        f"The stage was deployed after {named(in_force.current)} was pushed. This version is "
        "still in force, so readers do not get the deployed templates. To put the deployed "
        "templates in force, run `gazette templates rollback deployed`. To combine both "
        "changes, push from the deployed release."
    )


def settings_text(settings: Mapping[str, object]) -> str:
    """Format settings, such as `max_blocks 5, ranking latest`."""
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _since(in_force: InForce) -> str:
    if in_force.changed_at is None:
        return ""
    return f", since {moment(in_force.changed_at)}, by {in_force.changed_by}"


def _versions(in_force: InForce, history: Sequence[PushedVersion]) -> Rows:
    rows: list[Sequence[object]] = [
        (
            each.version.number,
            _share(each.version, in_force),
            each.pushed_at,
            each.pushed_by,
            Shown(each.note or None, each.note or NOTHING),
            _settings(each.version),
            each.size,
            Shown(each.version.checksum, each.version.checksum[:_SHORT]),
            each.release or None,
            each.layer or None,
        )
        for each in history
    ]
    deployed = Shown(None, "the deployed templates")
    rows.append(
        (0, _share(DEPLOYED, in_force), None, None, deployed, _settings(DEPLOYED), *(None,) * 4)
    )
    return Rows("versions", _COLUMNS, rows)


def _share(version: Version, in_force: InForce) -> Shown:
    """Return the percentage of readers who get a version, as text."""
    candidate = in_force.candidate
    of_candidate = candidate.percent if candidate else 0
    if candidate and version == candidate.version:
        return Shown(of_candidate, f"{of_candidate} %")
    if version == in_force.current:
        rest = 100 - of_candidate
        return Shown(rest, "all" if rest == 100 else f"{rest} %")
    return Shown(0, "")


def _settings(version: Version) -> Shown:
    settings = version.settings.as_written()
    return Shown(settings, settings_text(settings) or NOTHING)


def _log(changes: Sequence[Change]) -> Rows:
    rows = [
        (
            each.at,
            each.by,
            each.act.value,
            each.current,
            each.candidate or None,
            each.percent if each.candidate else None,
            each.note or None,
        )
        for each in changes
    ]
    return Rows("log", _LOG_COLUMNS, rows)
