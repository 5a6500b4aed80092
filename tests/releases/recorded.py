"""The releases that are recorded below this folder."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from release.recording import READER, ROWS, SETTINGS

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded release."""

    version: str

    @property
    def folder(self) -> Path:
        return _FOLDER / self.version

    @property
    def wheel(self) -> Path:
        """The wheel `gazette-digest`, which only the last releases have."""
        return self.folder / f"gazette_digest-{self.version}-py3-none-any.whl"

    @property
    def settings(self) -> set[str]:
        """The names of the settings of a stage."""
        return set(json.loads((self.folder / SETTINGS).read_text()))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows that the release writes (`table`, `item`), with its readings (`read`)."""
        for line in (self.folder / ROWS).read_text().splitlines():
            yield json.loads(line)

    def unpack(self, folder: Path) -> Path:
        """Unpack the wheel as in an installation, and return its folder."""
        with zipfile.ZipFile(self.wheel) as archive:
            archive.extractall(folder)
        return folder

    def read(self, rows: Sequence[str], site: Path) -> list[Any]:
        """Read rows, as JSON lines, with the code of the release, which is unpacked in `site`."""
        done = subprocess.run(
            [sys.executable, str(self.folder / READER)],
            input="\n".join(rows),
            env=in_site(site),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


def printed(program: str, environment: Mapping[str, str] | None) -> Any:
    """The JSON that a Python program prints in an environment, or in that of this process."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def in_site(site: Path) -> dict[str, str]:
    """The environment of a process that imports the packages in `site` instead of this tree's."""
    return {**os.environ, "PYTHONPATH": str(site)}


def recorded() -> list[Recorded]:
    """The recorded releases, oldest first."""
    names = [each.parent.name for each in _FOLDER.glob(f"*/{ROWS}")]
    return [Recorded(name) for name in sorted(names, key=_numbers)]


def last() -> Recorded:
    """The release before the version of this tree, to which a stage can go back."""
    return recorded()[-1]


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]
