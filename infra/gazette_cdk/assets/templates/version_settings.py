"""The `settings.json` file in an adopter's templates, with the settings of a pushed version.

Deployed templates use the settings of the stage instead.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gazette.adapters.contract.strict_json import UnreadableError, read_json
from gazette.adapters.templates.bundle import SETTINGS_FILE
from gazette.domain.templates.settings import (
    NO_SETTINGS,
    InvalidVersionSettings,
    VersionSettings,
    version_settings,
)
from gazette.settings.ranges import RANGES

from gazette_cdk.assets.templates.faults import (
    Fault,
    TemplateError,
    fault,
    line_of_json_error,
    read_text,
)
from gazette_cdk.assets.templates.json_lines import line_at, lines_in


def read_version_settings(templates: Path) -> VersionSettings:
    """Return the settings in a folder of templates.

    Raise TemplateError with the file, the line and the name of each invalid setting.
    """
    file = templates / SETTINGS_FILE
    if not file.is_file():
        return NO_SETTINGS
    text = read_text(file)
    try:
        content = read_json(text)
    except UnreadableError as err:
        raise fault(file, f"{err}.", line=line_of_json_error(err)) from err
    lines = lines_in(text)
    faults = [
        Fault(str(file), line_at(lines, [name]), f"{problem}.")
        for name, problem in _problems(content)
    ]
    if faults:
        raise TemplateError(*faults)
    return version_settings(content, ranges=RANGES)


def _problems(content: Any) -> Iterator[tuple[str, InvalidVersionSettings]]:
    """Yield the problems of the settings, each with the name of its setting."""
    settings = content.items() if isinstance(content, dict) else [("", content)]
    for name, value in settings:
        try:
            version_settings({name: value} if name else value, ranges=RANGES)
        except InvalidVersionSettings as err:
            yield name, err
