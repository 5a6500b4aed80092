"""`settings.json` of an adopter's templates: the settings that belong to a pushed version.

What is deployed goes by the settings of the stage, in cdk.json.
"""

from pathlib import Path

from gazette.adapters.contract.strict_json import UnreadableError, read_json
from gazette.adapters.templates.bundle import SETTINGS_FILE
from gazette.domain.templates.settings import (
    NO_SETTINGS,
    InvalidVersionSettings,
    VersionSettings,
    version_settings,
)
from gazette.settings.ranges import RANGES

from infra.assets.inline import TemplateError


def read_version_settings(templates: Path) -> VersionSettings:
    """The settings in a folder of templates. Raises TemplateError, naming file and setting."""
    file = templates / SETTINGS_FILE
    if not file.is_file():
        return NO_SETTINGS
    try:
        given = read_json(file.read_text(encoding="utf-8"))
        return version_settings(given, ranges=RANGES)
    except (UnreadableError, UnicodeError) as err:
        raise TemplateError(f"{file} is not JSON: {err}.") from err
    except InvalidVersionSettings as err:
        raise TemplateError(f"{file}: {err}.") from err
