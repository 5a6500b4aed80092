"""Renderers of the versions of a stage, configured as in its functions."""

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache

from gazette.adapters.rendering.brand import BrandError
from gazette.adapters.rendering.environment import VARIATIONS
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.variations import VariationError
from gazette.adapters.templates.sandbox import SandboxedTemplates
from gazette.adapters.templates.unpacked import Unpacked
from gazette.domain.delivery.run import Run
from gazette.domain.templates.versions import DEPLOYED, Version, version_for
from gazette.settings.delivery import GenerateSettings

from gazette_cli.shared.console import NotPossible
from gazette_cli.templates.differences import Files
from gazette_cli.templates.stage import files_of, named
from gazette_support.domain.replay import Missing
from gazette_support.steps.replay import Side
from gazette_support.steps.templates import TemplatesContext


def renderer_of(version: Version, files: Files) -> JinjaRenderer:
    """Return a renderer of a version. Pushed versions are rendered in the sandbox. Raises
    NotPossible.
    """
    unpacked = Unpacked(files)
    kind = None if version.is_deployed else SandboxedTemplates
    try:
        return JinjaRenderer(unpacked.path, kind=kind, held=unpacked)
    except (BrandError, VariationError) as err:
        raise NotPossible(
            f"This command cannot use {_templates(version)} "
            f"({str(err).replace(f'{unpacked.path}/', '')}). Use the command of the release for "
            "which they were made."
        ) from err


def _templates(version: Version) -> str:
    name = named(version)
    return name if version.is_deployed else f"the templates of {name}"


def side_of(version: Version, files: Files, settings: GenerateSettings) -> Side:
    """Return a version with the settings that the stage uses for sending. Raises NotPossible.

    The markers of untracked links do not count as a difference, because SES removes the markers.
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
    """Raise NotPossible if a version does not have the variation."""
    folder = f"{VARIATIONS}/{variation}/"
    if variation != 1 and not any(name.startswith(folder) for name in files):
        raise NotPossible(f"Version {version.number} does not have variation {variation}.")


@dataclass(frozen=True, slots=True)
class VersionSide:
    """A version, with its renderer and settings."""

    version: Version
    side: Side


class SidesOfRuns:
    """The versions with which runs are rendered before a change. Each version is fetched only once.

    By default, a run is rendered with the version in force for its reader. With `as_sent`, it is
    rendered with the version that it was sent with.
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
        self.in_force = context.versions.in_force()
        self._as_sent = as_sent
        self._made, self._version = cache(self._make), cache(self._find)
        if not as_sent:
            self._made(self.in_force.current)  # reports an unreadable version first

    def __call__(self, run: Run) -> VersionSide | Missing:
        """Return the version of a run, or Missing if that version is no longer stored."""
        if not self._as_sent:
            return self._made(version_for(run.key.user_id, self.in_force))
        version = self._version(run.templates)
        return self._made(version) if version else Missing.TEMPLATES

    def without_runs(self) -> dict[Version, Side]:
        """Return the current version, for a comparison that has no runs."""
        current = self.in_force.current
        return {} if self._as_sent else {current: self._made(current).side}

    def _find(self, number: int) -> Version | None:
        """Return the version with the given number, or None if the version is no longer stored."""
        if number == DEPLOYED.number:
            return DEPLOYED
        pushed = self._context.versions.find(number)
        if pushed is None or self._context.bundles.get(pushed.version) is None:
            return None
        return pushed.version

    def _make(self, version: Version) -> VersionSide:
        files = files_of(version, self._context, self._stage)
        return VersionSide(version, side_of(version, files, self._settings))
