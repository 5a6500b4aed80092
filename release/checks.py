"""The conditions of a release."""

import subprocess
import tomllib
from datetime import UTC, datetime, time
from pathlib import Path

from release.changelog import Section, sections

_DEVELOPED = ".dev0"
"""The end of the version in pyproject.toml while the version is developed."""


class Refused(Exception):
    """An error for a tree that must not be released. Each argument is a reason on one line."""


def version_of(root: Path) -> str:
    """Return the version in pyproject.toml, such as `0.2.0`, or `0.3.0.dev0` between releases."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def section_of(root: Path) -> Section:
    """Return the first section of the changelog. Raises Refused if it is that of another version.

    Between releases, the version `0.3.0.dev0` has the section 0.3.0.
    """
    try:
        known = sections((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    except ValueError as err:
        raise Refused(f"CHANGELOG.md has a malformed date: {err}.") from err
    version = version_of(root).removesuffix(_DEVELOPED)
    if not known or known[0].version != version:
        first = known[0].version if known else "missing"
        raise Refused(
            f"pyproject.toml has version {version}, but the first section of CHANGELOG.md is "
            f"{first}."
        )
    return known[0]


def check(root: Path) -> int:
    """Return the time of a release in seconds since 1970, the midnight of its date in UTC.

    It does not depend on the machine or the commit, so every build of the same files has the same
    times. Raises Refused.
    """
    version, section = version_of(root), section_of(root)
    reasons = list(section.errors)
    if version.endswith(_DEVELOPED):
        reasons.append(
            f"pyproject.toml has version {version}, which is being developed. Set the version of "
            "the release."
        )
    if section.released_on is None:
        reasons.append(
            f"The section {section.version} of CHANGELOG.md has no date. Write `## "
            f"{section.version}, YYYY-MM-DD`."
        )
    if changed := _changed(root):
        reasons.append(
            f"{len(changed)} files are not committed, such as {changed[0]}. Commit or delete them."
        )
    if reasons or section.released_on is None:
        raise Refused(*reasons)
    return int(datetime.combine(section.released_on, time(), UTC).timestamp())


def _changed(root: Path) -> list[str]:
    """Return the files that differ from the commit, or are not part of it."""
    run = subprocess.run(
        ["git", "-C", str(root), "status", "--porcelain", "--untracked-files=all"],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        raise Refused(f"git cannot read {root}: {run.stderr.strip()}")
    return [line[3:] for line in run.stdout.splitlines()]
