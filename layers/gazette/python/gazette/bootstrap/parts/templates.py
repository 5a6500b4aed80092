"""The composition of renderers for the deployed templates and for pushed versions."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from gazette.adapters.cached import once
from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.adapters.rendering.fragments import FragmentCount
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.bootstrap.parts.clock import now
from gazette.domain.ports.rendering import TemplateLibrary, VersionTemplates
from gazette.domain.templates.ports import CurrentDecisions
from gazette.domain.templates.settings import NO_SETTINGS, version_settings
from gazette.domain.templates.versions import Version
from gazette.settings.ranges import RANGES
from gazette.steps.delivery.versions import RunTemplates, Unusable

if TYPE_CHECKING:
    from gazette.adapters.templates.unpacked import Unpacked

_FRAGMENTS = FragmentCount()

take_count = _FRAGMENTS.take
"""A function that returns the number of cache hits and misses of all versions since the last call.
"""

ForSending = Callable[[JinjaRenderer], JinjaRenderer]
"""A function that converts a renderer into a renderer for emails that are sent."""


def templates() -> Path:
    """Return the directory of the deployed templates."""
    return Path(str(files("gazette_templates")))


@cache
def renderer() -> JinjaRenderer:
    """Return the renderer of the deployed templates. It caches blocks that several readers get."""
    return JinjaRenderer(templates(), count=_FRAGMENTS)


def run_templates(
    *,
    control_table: str,
    bucket: str,
    decisions: CurrentDecisions,
    for_sending: ForSending,
    unusable: Unusable,
    waiting: Callable[[], AbstractContextManager[None]],
) -> RunTemplates:
    """Return the selector of the template version for each run.

    `waiting` is a context manager that is entered while a version is loaded.
    """

    def build() -> TemplateLibrary:
        return _library(deployed, control_table, bucket, for_sending, unusable, waiting)

    deployed = VersionTemplates(0, for_sending(renderer()))
    return RunTemplates(
        library=_OnDemand(deployed, once(build)), decisions=decisions, unusable=unusable
    )


class _OnDemand:
    """An implementation of the `TemplateLibrary` port that imports its modules only if a pushed
    version is in use.
    """

    def __init__(self, deployed: VersionTemplates, build: Callable[[], TemplateLibrary]) -> None:
        self.deployed = deployed
        self._build = build

    def get(self, version: Version) -> VersionTemplates:
        return self._build().get(version)

    def numbered(self, number: int) -> VersionTemplates:
        return self._build().numbered(number)


def _library(
    deployed: VersionTemplates,
    control_table: str,
    bucket: str,
    for_sending: ForSending,
    unusable: Unusable,
    waiting: Callable[[], AbstractContextManager[None]],
) -> TemplateLibrary:
    # Imported here because only stages with a pushed version need S3, the sandbox and bundles.
    from gazette.adapters.templates.bundle import SETTINGS_FILE
    from gazette.adapters.templates.library import Library
    from gazette.adapters.templates.s3 import S3Bundles
    from gazette.adapters.templates.sandbox import SandboxedTemplates
    from gazette.steps.delivery.trial import try_out

    def load(number: int, unpacked: "Unpacked") -> VersionTemplates:
        file, settings = unpacked.path / SETTINGS_FILE, NO_SETTINGS
        if file.exists():
            settings = version_settings(json.loads(file.read_text("utf-8")), ranges=RANGES)
        version_renderer = JinjaRenderer(
            unpacked.path,
            kind=SandboxedTemplates,
            brand=renderer().brand,
            held=unpacked,
            count=_FRAGMENTS,
        )
        try_out(VersionTemplates(number, version_renderer, settings))
        return VersionTemplates(number, for_sending(version_renderer), settings)

    return Library(
        deployed=deployed,
        bundles=S3Bundles(bucket),
        versions=DynamoTemplateVersions(control_table, ranges=RANGES),
        load=load,
        failed=unusable,
        clock=now,
        waiting=waiting,
    )
