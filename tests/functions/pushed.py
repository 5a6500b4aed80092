"""Versions of the templates that somebody has pushed."""

from gazette.adapters.templates.bundle import checksum_of
from gazette.domain.templates.settings import NO_SETTINGS, VersionSettings
from gazette.domain.templates.versions import EVERYBODY, Version
from gazette.settings.delivery import GenerateSettings

from gazette_cli.templates.building import SOURCE, Templates
from gazette_cli.templates.pushing import packed
from gazette_support.bootstrap.templates import build_templates
from gazette_support.steps.templates import Bundle, push


def push_version(
    *,
    layer: str = "",
    percent: int = EVERYBODY,
    content: bytes | None = None,
    settings: VersionSettings = NO_SETTINGS,
) -> Version:
    """Our templates, or a bundle as given, beside a deployed layer, for some readers."""
    bundle = packed(Templates(SOURCE)).content if content is None else content
    return push(
        Bundle(
            content=bundle,
            checksum=checksum_of(bundle),
            settings=settings,
            layer=layer,
        ),
        percent,
        by="arn:aws:iam::123456789012:user/ann",
        context=build_templates(GenerateSettings.from_env()),
    ).version.version
