"""Reads a stage of cdk.json, and says everything that is wrong with it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from textwrap import shorten
from typing import Any, get_origin

from gazette.settings.ranges import CHOICES, RANGES

from infra.stage import Stage
from infra.stage.checks.functions import wrong_for_functions
from infra.stage.checks.together import wrong_together
from infra.stage.checks.wrong import Wrong, no_choice, out_of_range
from infra.stage.content import wrong_with_content
from infra.stage.links import wrong_with_links
from infra.stage.owner import wrong_with_owner
from infra.stage.reports import wrong_with_reports
from infra.stage.sending import wrong_with_sending
from infra.stage.speed import wrong_with_speed
from infra.stage.storage import wrong_with_storage

_SETTINGS = {each.name: each for each in fields(Stage) if each.name != "name"}

_LONGEST_VALUE = 120


class StageError(Exception):
    """A stage in cdk.json that cannot be deployed.

    Each line of the text is about one problem: it names the setting, its value and what to do.
    """


def read_stage(name: str, stages: Mapping[str, Mapping[str, Any]]) -> Stage:
    """The stage `name` of cdk.json. Raises StageError with all that is wrong with it."""
    if name not in stages:
        raise StageError(
            f"There is no stage {name!r} in cdk.json; it has {', '.join(sorted(stages))}. "
            "Choose one with `-c stage=NAME` (of `gazette`: `--stage NAME`), or add it under "
            "context.stages."
        )
    given = stages[name]
    if not isinstance(given, Mapping):
        raise refused(
            name, ["a stage must be an object of settings; docs/configuration.md lists them."]
        )
    unreadable = list(_unreadable(given))
    stage = _made_of(name, given, without=unreadable)
    wrong = list(_about_others(_wrong(stage), unreadable))
    by_itself = [each for each in wrong if len(each.of) == 1]
    wrong += _about_others(wrong_together(stage), [*unreadable, *by_itself])
    sound = _made_of(name, given, without=[*unreadable, *wrong])
    wrong += _about_others(wrong_for_functions(sound), [*unreadable, *wrong])
    if unreadable or wrong:
        lines = [_with_values(each, given) for each in unreadable]
        raise refused(name, [*lines, *(_with_values(each, vars(stage)) for each in wrong)])
    return stage


def other_stages(name: str, stages: Mapping[str, Mapping[str, Any]]) -> Iterator[Stage]:
    """All stages but one, without their settings that cannot be read: those are told for each."""
    for other, given in stages.items():
        if other != name and isinstance(given, Mapping):
            yield _made_of(other, given, without=_unreadable(given))


def _made_of(name: str, given: Mapping[str, Any], *, without: Iterable[Wrong]) -> Stage:
    """The stage with the defaults of what is wrong."""
    out = {setting for each in without for setting in each.of}
    sound = {setting: value for setting, value in given.items() if setting not in out}
    return Stage(name=name, **dict.fromkeys(_required(), "") | sound)


def _about_others(found: Iterable[Wrong], known: Iterable[Wrong]) -> list[Wrong]:
    """Those that look at nothing of which it is known that it is wrong."""
    out = {setting for each in known for setting in each.of}
    return [each for each in found if out.isdisjoint(each.of)]


def refused(name: str, wrong: Iterable[str]) -> StageError:
    """The error that has a line for each sentence of `wrong`."""
    return StageError("\n".join(f"Stage {name!r} in cdk.json: {each}" for each in wrong))


def _required() -> Iterator[str]:
    for setting, each in _SETTINGS.items():
        if each.default is MISSING and each.default_factory is MISSING:
            yield setting


def _unreadable(given: Mapping[str, Any]) -> Iterator[Wrong]:
    """What is wrong without knowing what a setting is for."""
    for setting, value in given.items():
        if setting == "max_groups":
            yield Wrong(
                "max_groups is max_blocks now: all groups of an entity are one block.",
                of=(setting,),
            )
            continue
        if setting not in _SETTINGS:
            yield Wrong(
                f"there is no setting {setting!r}; docs/configuration.md lists them.", of=(setting,)
            )
            continue
        kind = _SETTINGS[setting].type
        if setting == "concurrency" and type(value) is int:
            yield Wrong(
                f"concurrency is by function now: instead of {value} write "
                f'{{"generate": {value}}}, or leave it out: then it follows the rate.',
                of=(setting,),
            )
        elif type(value) is not (get_origin(kind) or kind):
            yield Wrong(
                f"{setting} must be of type {getattr(kind, '__name__', kind)}.", of=(setting,)
            )
    for setting in _required():
        if given.get(setting, "") == "":
            yield Wrong(
                f"{setting} is missing; docs/configuration.md says what to write.", of=(setting,)
            )


def _wrong(stage: Stage) -> Iterator[Wrong]:
    """Within each group of settings."""
    if not re.fullmatch(r"[a-z][a-z0-9]{0,15}", stage.name):
        yield Wrong("a name is 1 to 16 of a-z and 0-9.", of=())
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
    values = ", ".join(f'"{each}": {_shown(known[each])}' for each in wrong.of if each in known)
    return f"{wrong.says} It has {values}." if values and not wrong.has_values else wrong.says


def _shown(value: object) -> str:
    """As cdk.json has it, on one line."""
    return shorten(json.dumps(value, ensure_ascii=False), _LONGEST_VALUE, placeholder=" …")
