"""The `settings.json` file in an adopter's templates, with the settings of a pushed version.

Deployed templates use the settings of the stage instead.
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

from gazette_cdk.assets.templates.inline import TemplateError


def read_version_settings(templates: Path) -> VersionSettings:
    """Return the settings in a folder of templates.

    Raise TemplateError, which names the file and setting.
    """
    file = templates / SETTINGS_FILE
    if not file.is_file():
        return NO_SETTINGS
    try:
        content = read_json(file.read_text(encoding="utf-8"))
        return version_settings(content, ranges=RANGES)
    except (UnreadableError, UnicodeError) as err:
        raise TemplateError(f"{file} is not JSON: {err}.") from err
    except InvalidVersionSettings as err:
        raise TemplateError(f"{file}: {err}.") from err
