"""Renderers of the versions of a stage, as its functions have them."""

from contextlib import nullcontext
from functools import cache

from gazette.adapters.rendering.environment import VARIATIONS
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sandbox import SandboxedTemplates
from gazette.adapters.templates.library import Unpacked
from gazette.domain.delivery.run import Run
from gazette.domain.replay import Missing
from gazette.domain.templates.versions import DEPLOYED, Version, version_for
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.replay import Side
from gazette.steps.support.templates import TemplatesContext

from cli.shared.console import NotPossible
from cli.templates.differences import Files
from cli.templates.stage import files_of


def renderer_of(version: Version, files: Files) -> JinjaRenderer:
    """What was deployed as it is; what was pushed in the sandbox."""
    unpacked = Unpacked(files)
    kind = None if version.is_deployed else SandboxedTemplates
    return JinjaRenderer(unpacked.path, kind=kind, held=unpacked)


def side_of(version: Version, files: Files, settings: GenerateSettings) -> Side:
    """A version as it is sent with, on the settings of the stage.

    SES removes the marks of links that it does not count: they are no change.
    """
    says = version.settings
    return Side(
        renderer=renderer_of(version, files).for_sending(
            tracks_clicks=bool(settings.track_clicks), measured=nullcontext
        ),
        max_blocks=says.max_blocks or settings.max_blocks,
        arrangement=says.arranged(settings.arrangement),
    )


def check_variation_of(version: Version, files: Files, variation: int) -> None:
    """Raise NotPossible if a version has no such variation."""
    folder = f"{VARIATIONS}/{variation}/"
    if variation != 1 and not any(name.startswith(folder) for name in files):
        raise NotPossible(f"Version {version.number} has no variation {variation}.")


class SidesOfRuns:
    """What a stage makes of the emails of runs. Each version is fetched once.

    By the version that is in force for the reader of a run, or `as_sent`, by that of the run.
    """

    def __init__(
        self,
        *,
        context: TemplatesContext,
        settings: GenerateSettings,
        stage: str,
        as_sent: bool,
    ) -> None:
        self._context, self._settings, self._stage = context, settings, stage
        self._in_force = context.versions.in_force()
        self._as_sent = as_sent
        self._side_of, self._version = cache(self._make), cache(self._find)
        if not as_sent:
            self._side_of(self._in_force.current)  # what it cannot read is told before all else

    def __call__(self, run: Run) -> Side | Missing:
        """The side of a run; Missing if the version that it was sent with is no longer stored."""
        if not self._as_sent:
            return self._side_of(version_for(run.key.user_id, self._in_force))
        version = self._version(run.templates)
        return self._side_of(version) if version else Missing.TEMPLATES

    def _find(self, number: int) -> Version | None:
        """The version by its number, if it is still stored."""
        if number == DEPLOYED.number:
            return DEPLOYED
        pushed = self._context.versions.find(number)
        if pushed is None or self._context.bundles.get(pushed.version) is None:
            return None
        return pushed.version

    def _make(self, version: Version) -> Side:
        return side_of(version, files_of(version, self._context, self._stage), self._settings)
