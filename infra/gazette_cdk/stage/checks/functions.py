"""The checks that functions make when they start, applied to the stage's settings at synthesis."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from gazette.settings.content import ContentSettings
from gazette.settings.delivery import GenerateSettings, ResendSettings
from gazette.settings.environment import InvalidSetting, Settings
from gazette.settings.fanout import FanoutSettings
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import FollowersSettings, IngestSettings
from gazette.settings.outbox import OutboxSettings
from gazette.settings.preferences import PreferencesSettings
from gazette.settings.sweep import SweepSettings

from gazette_cdk.stage.checks.wrong import Wrong
from gazette_cdk.stage.stage import Stage

_KINDS: tuple[type[Settings], ...] = (
    IngestSettings,
    FollowersSettings,
    FanoutSettings,
    GenerateSettings,
    ResendSettings,
    FeedbackSettings,
    SweepSettings,
    PreferencesSettings,
    ContentSettings,
    OutboxSettings,
)

_VARIABLE = re.compile(r"GAZETTE_([A-Z_]+)")


def as_functions_read(stage: Stage) -> dict[str, Any]:
    """Return the settings as functions read them: objects and lists as JSON, `true` as 1."""
    known = {name: _as_read(value) for name, value in vars(stage).items()}
    _, immediate = stage.streams
    return {**known, "immediate_sender": immediate.sender}


def wrong_for_functions(stage: Stage) -> Iterator[Wrong]:
    """Yield the problems that the functions would report when they start.

    A function reports only the first problem. Replace the invalid value with the default and check
    again until there are no more problems.
    """
    known = as_functions_read(stage)
    default = as_functions_read(Stage(name=stage.name, sender=stage.sender, list_id=stage.list_id))
    for kind in _KINDS:
        while wrong := _refused_by(kind, known):
            yield wrong
            better = {**known, **{setting: default[setting] for setting in wrong.of}}
            if better == known:
                break
            known = better


def _refused_by(kind: type[Settings], known: Mapping[str, Any]) -> Wrong | None:
    blank = {each.name: 0 if each.type is int else "" for each in fields(kind)}
    try:
        kind(**blank | {name: known[name] for name in blank.keys() & known.keys()})
    except InvalidSetting as err:
        names = (name.lower() for name in _VARIABLE.findall(str(err)))
        return Wrong(
            _VARIABLE.sub(lambda variable: variable[1].lower(), str(err)),
            of=tuple(dict.fromkeys(name for name in names if name in known)),
            has_values=True,
        )
    return None


def _as_read(value: object) -> object:
    if isinstance(value, dict | list):
        return json.dumps(value)
    return int(value) if isinstance(value, bool) else value
