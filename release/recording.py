"""The recording of a release in tests/releases, for the tests of the versions after it."""

import json
import shutil
from dataclasses import fields
from pathlib import Path

from gazette_cdk.stage import Stage
from release.building import CHECKSUMS
from release.checks import Refused, version_of
from tests.releases import reading
from tests.releases.writing import as_json, rows

ROWS, SETTINGS, READER = "rows.ndjson", "settings.json", "reading.py"
"""The rows that the release writes with their readings, the names of its settings, and the module
that reads rows with the code of the release."""


def record(root: Path, built: Path) -> Path:
    """Copy the wheel and the checksums of the release in `built`, and write its rows and settings.

    Return the new folder in tests/releases. Raises Refused if the release was recorded before,
    because a recording does not change.
    """
    folder = root / "tests" / "releases" / version_of(root)
    if folder.exists():
        raise Refused(f"{folder.relative_to(root)} exists. Delete it to record the release again.")
    folder.mkdir(parents=True)
    (wheel,) = built.glob("gazette_digest-*.whl")
    shutil.copy(wheel, folder)
    shutil.copy(built / CHECKSUMS, folder)
    shutil.copy(Path(reading.__file__), folder / READER)
    lines = [as_json(row, read=reading.read(*row)) for row in rows()]
    (folder / ROWS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    names = sorted({each.name for each in fields(Stage)} - {"name"})
    (folder / SETTINGS).write_text(json.dumps(names, indent=2) + "\n", encoding="utf-8")
    return folder
