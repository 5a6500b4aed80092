"""Functions that read the settings of a stage and report all of its problems at once."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from textwrap import shorten
from typing import Any, get_origin

from gazette.settings.ranges import CHOICES, DURATIONS, RANGES, as_typed, as_written

from gazette_cdk.stage import Stage
from gazette_cdk.stage.checks.functions import wrong_for_functions
from gazette_cdk.stage.checks.together import wrong_together
from gazette_cdk.stage.checks.wrong import Wrong, no_choice, out_of_range
from gazette_cdk.stage.content import wrong_with_content
from gazette_cdk.stage.links import wrong_with_links
from gazette_cdk.stage.owner import wrong_with_owner
from gazette_cdk.stage.reports import wrong_with_reports
from gazette_cdk.stage.sending import wrong_with_sending
from gazette_cdk.stage.speed import wrong_with_speed
from gazette_cdk.stage.storage import wrong_with_storage

_SETTINGS = {each.name: each for each in fields(Stage) if each.name != "name"}

_LONGEST_VALUE = 120


_REMOVED = {
    "commit_margin": "eight seconds are now reserved for recording an outcome, on every stage",
    "requests_burst": "the burst limit is now twice requests_per_second",
    "lookback_slots": "each tick now reads the slots of the last hour, on every stage",
    "smtp_command_timeout": "each SMTP step before the reply now has 20 seconds, on every stage",
    "ramp_every": "the rate of a ramp now doubles every 30 seconds, on every stage",
}
"""Settings of earlier versions that have no replacement, with the reason."""


CDK_JSON = "cdk.json"
"""The file with the settings of the stages, if no other is known."""


class StageError(Exception):
    """A stage that cannot be deployed.

    Each line of the text describes one problem: the setting, its value and what to do.
    """


def read_stage(
    name: str, stages: Mapping[str, Mapping[str, Any]], *, origin: str = CDK_JSON
) -> Stage:
    """Return the stage `name`. Raise StageError with all problems of the stage.

    `origin` is the place of the settings in the texts of the errors, such as `cdk.json`.
    """
    if name not in stages:
        raise StageError(_missing(name, stages, origin))
    values = stages[name]
    if not isinstance(values, Mapping):
        raise refused(
            name,
            ["a stage must be an object of settings; docs/configuration.md lists them."],
            origin=origin,
        )
    unreadable = list(_unreadable(values))
    stage = _stage(name, values, without=unreadable)
    wrong = list(_about_others(_wrong(stage), unreadable))
    by_itself = [each for each in wrong if len(each.of) == 1]
    wrong += _about_others(wrong_together(stage), [*unreadable, *by_itself])
    sound = _stage(name, values, without=[*unreadable, *wrong])
    wrong += _about_others(wrong_for_functions(sound), [*unreadable, *wrong])
    if unreadable or wrong:
        lines = [_with_values(each, values) for each in unreadable]
        lines += [_with_values(each, vars(stage)) for each in wrong]
        raise refused(name, lines, origin=origin)
    return stage


_LARGEST = 1_000_000_000
"""The largest number of a duration, 31 years in seconds, which can be added to any date."""


def other_stages(name: str, stages: Mapping[str, Mapping[str, Any]]) -> Iterator[Stage]:
    """Yield all other stages, without their invalid settings.

    A stage's settings are reported when that stage itself is read.
    """
    for other, values in stages.items():
        if other != name and isinstance(values, Mapping):
            yield _stage(other, values, without=_unreadable(values))


def _stage(name: str, values: Mapping[str, Any], *, without: Iterable[Wrong]) -> Stage:
    """Return the stage, with default values for settings that have problems."""
    out = {setting for each in without for setting in each.of}
    sound = {
        setting: as_typed(setting, value) for setting, value in values.items() if setting not in out
    }
    return Stage(name=name, **dict.fromkeys(_required(), "") | sound)


def _about_others(problems: Iterable[Wrong], known: Iterable[Wrong]) -> list[Wrong]:
    """Return the problems that do not involve a setting with an already known problem."""
    out = {setting for each in known for setting in each.of}
    return [each for each in problems if out.isdisjoint(each.of)]


def refused(name: str, wrong: Iterable[str], *, origin: str = CDK_JSON) -> StageError:
    """Return a StageError with one line for each sentence in `wrong`."""
    return StageError("\n".join(f"Stage {name!r} in {origin}: {each}" for each in wrong))


def _missing(name: str, stages: Iterable[str], origin: str) -> str:
    known = f"Its stages are {', '.join(sorted(stages))}." if stages else "It has no stages."
    to_do = (
        "Choose one with `-c stage=NAME` (`gazette`: `--stage NAME`), or add it under "
        "context.stages."
        if origin == CDK_JSON
        else f"Choose one of them (`gazette`: `--stage NAME`), or add the table [{name}]."
    )
    return f"There is no stage {name!r} in {origin}. {known} {to_do}"


def _required() -> Iterator[str]:
    for setting, each in _SETTINGS.items():
        if each.default is MISSING and each.default_factory is MISSING:
            yield setting


def _unreadable(values: Mapping[str, Any]) -> Iterator[Wrong]:
    """Yield problems with settings that are unknown, missing or of a wrong type."""
    for setting, value in values.items():
        if setting == "max_groups":
            yield Wrong(
                "max_groups is now max_blocks, because all groups of an entity are one block. "
                "Rename it.",
                of=(setting,),
            )
            continue
        if setting in _REMOVED:
            yield Wrong(
                f"{setting} is no longer a setting, because {_REMOVED[setting]}. Remove it.",
                of=(setting,),
            )
            continue
        if setting == "recommendations_concurrency":
            yield Wrong(
                f'recommendations_concurrency is now part of concurrency. Write "concurrency": '
                f'{{"content": {value}}}.',
                of=(setting,),
            )
            continue
        if setting not in _SETTINGS:
            yield Wrong(
                f"there is no setting {setting!r}. docs/configuration.md lists all settings.",
                of=(setting,),
            )
            continue
        kind = int if setting in DURATIONS else _SETTINGS[setting].type
        if setting == "concurrency" and type(value) is int:
            yield Wrong(
                f"concurrency is now set for each function. Write "
                f'{{"generate": {value}}} instead of {value}, or remove it to derive it from the '
                "rate.",
                of=(setting,),
            )
        elif type(value) is not (get_origin(kind) or kind):
            yield Wrong(
                f"{setting} must be of type {getattr(kind, '__name__', kind)}.", of=(setting,)
            )
        elif setting in DURATIONS and abs(value) > _LARGEST:
            allowed = DURATIONS[setting]
            limit = f"at most {_LARGEST}" if value in allowed else str(allowed)
            yield Wrong(f"{setting} must be {limit}.", of=(setting,))
    for setting in _required():
        if values.get(setting, "") == "":
            yield Wrong(
                f"{setting} is missing. docs/configuration.md describes its value.", of=(setting,)
            )


def _wrong(stage: Stage) -> Iterator[Wrong]:
    """Yield the problems within each group of settings."""
    if not re.fullmatch(r"[a-z][a-z0-9]{0,15}", stage.name):
        yield Wrong(
            "its name must have 1 to 16 characters of a-z and 0-9, and begin with a letter.", of=()
        )
    yield from out_of_range(stage, RANGES)
    yield from no_choice(stage, CHOICES)
    yield from wrong_with_owner(stage)
    yield from wrong_with_content(stage)
    yield from wrong_with_sending(stage)
    yield from wrong_with_speed(stage)
    yield from wrong_with_reports(stage)
    yield from wrong_with_links(stage)
    yield from wrong_with_storage(stage)


def _with_values(wrong: Wrong, known: Mapping[str, Any]) -> str:
    values = ", ".join(
        f'"{each}": {_shown(as_written(each, known[each]))}' for each in wrong.of if each in known
    )
    return f"{wrong.says} It has {values}." if values and not wrong.has_values else wrong.says


def _shown(value: object) -> str:
    """Return the value as JSON on one line, shortened."""
    return shorten(json.dumps(value, ensure_ascii=False), _LONGEST_VALUE, placeholder=" …")
