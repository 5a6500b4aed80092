"""Versions of our templates that name their version in each part of an email."""

import re
import shutil
from pathlib import Path

from gazette.adapters.templates.bundle import checksum_of, pack
from gazette.domain.templates.versions import Version

from gazette_cdk.assets.templates.build import build_templates

_TEMPLATES = Path(__file__).parents[2] / "templates"
_SAID = re.compile(r"made by version (\d+)")

PARTS = (
    "digest/subject.txt",
    "digest/body.html",
    "digest/body.txt",
    "immediate/subject.txt",
    "immediate/body.html",
    "immediate/body.txt",
    "immediate/block.html",
    "immediate/block.txt",
)
"""Parts that a digest of one event and an immediate email share."""


def bundle(number: int, folder: Path) -> tuple[Version, bytes]:
    """Return the version with this number, and the bytes of its bundle. `folder` is used up."""
    overlay, built = folder / "own", folder / "built"
    for name in PARTS:
        (overlay / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_TEMPLATES / name, overlay / name)
        said = f"made by version {number}"
        file = overlay / name
        text = file.read_text()
        if name.endswith("body.html"):
            file.write_text(text.replace("{% block content %}", f"{{% block content %}}{said}"))
        else:
            file.write_text(f"{text.rstrip()} {said}\n")
    build_templates(_TEMPLATES, built, overlay=overlay)
    content = pack(built)
    return Version(number, checksum_of(content)), content


def versions_said(*parts: str) -> list[set[int]]:
    """Return the versions named in each part; {0} for a part without one."""
    return [set(map(int, _SAID.findall(part))) or {0} for part in parts]
