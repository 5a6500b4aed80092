"""The files of a release, built from the files of the last commit."""

import hashlib
import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from release.checks import Refused

CHECKSUMS = "SHA256SUMS"
"""The file with the SHA-256 checksum of each file, in the format of `sha256sum`."""

_TOOLS = Path(__file__).parents[1]
_SBOM = _TOOLS / ".release" / "bin" / "cyclonedx-py"


def build_twice(root: Path, work: Path, *, epoch: int) -> Path:
    """Build the release of the last commit in two folders, and return the folder of one build.

    The folders have different names and depths. Raises Refused if the builds differ, so that
    anyone can repeat a build and compare it with the checksums.
    """
    first, second = work / "a", work / "of" / "another" / "depth" / "b"
    outputs = []
    for folder in (first, second):
        source, output = folder / "source", folder / "output"
        _export(root, source)
        build(source, output, epoch=epoch)
        outputs.append(output)
    one, other = map(checksums, outputs)
    if one != other:
        names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
        raise Refused(f"Two builds of the same files differ: {', '.join(names)}.")
    return outputs[0]


def build(source: Path, output: Path, *, epoch: int) -> None:
    """Build all files of a release from the files in `source`.

    hatchling writes the time SOURCE_DATE_EPOCH and normalised permissions into archives.
    https://hatch.pypa.io/latest/config/build/#reproducible-builds
    """
    output.mkdir(parents=True)
    hatchling = [sys.executable, "-m", "hatchling", "build", "--directory", str(output)]
    _run([*hatchling, "--target", "wheel", "--target", "sdist"], source, epoch)
    _run([*hatchling, "--target", "wheel"], source / "producer", epoch)
    pinned = source / "requirements" / "installed.txt"
    uv = str(Path(sysconfig.get_path("scripts")) / "uv")
    _run(
        [
            *(uv, "pip", "compile", "--quiet", "pyproject.toml", "--all-extras"),
            *("--constraint", "requirements/dev.txt", "--universal", "--python-version", "3.13"),
            *("--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate"),
            *("--output-file", str(pinned)),
        ],
        source,
        epoch,
    )
    layer = source / "layers" / "dependencies" / "requirements.txt"
    for requirements, name in ((layer, "layer"), (pinned, "installed")):
        _run(
            [
                *(str(_SBOM), "requirements", "--output-reproducible", "--spec-version", "1.6"),
                *("--output-file", str(output / f"{name}.cdx.json")),
                *("--pyproject", "pyproject.toml", str(requirements)),
            ],
            source,
            epoch,
        )
    lines = [f"{checksum}  {name}\n" for name, checksum in sorted(checksums(output).items())]
    (output / CHECKSUMS).write_text("".join(lines), encoding="utf-8")


def checksums(folder: Path) -> Mapping[str, str]:
    """Return the SHA-256 checksum of each file of a folder by its name."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if file.is_file() and file.name != ".gitignore"
    }


def _export(root: Path, folder: Path) -> None:
    """Write the files of the last commit."""
    archive = subprocess.run(
        ["git", "-C", str(root), "archive", "--format=tar", "HEAD"], capture_output=True, check=True
    )
    folder.mkdir(parents=True)
    # With the program, because TarFile.extractall has no filter before Python 3.11.4.
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)


def _run(command: list[str], folder: Path, epoch: int) -> None:
    """Run a command of the build. Raises Refused with the last line of its output."""
    if not Path(command[0]).exists():
        raise Refused(f"{Path(command[0]).name} is missing. Run `make release`.")
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Refused(f"{Path(command[0]).name} failed: {''.join(last)}")
