"""The local build of the two layers, which does not need Docker."""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_
from babel.core import get_global

from gazette_cdk.assets.aws_data import shrink
from gazette_cdk.assets.templates.build import TOOLS, build_and_try
from gazette_cdk.folders import GAZETTE, PACKAGE

_ASSETS = Path(__file__).parent
_DEPENDENCIES = GAZETTE / "layers" / "dependencies"
_PACKAGE = PACKAGE
_TEMPLATES = GAZETTE / "templates"


class BuildError(Exception):
    """An error in the build of a layer. The message gives the reason and the remedy."""


@dataclass(frozen=True)
class Target:
    """The Python version and platform of the layers.

    `platform` is the name that uv uses, or None for this machine.
    """

    python: str
    platform: str | None


LAMBDA = Target(python="3.13", platform="aarch64-manylinux_2_28")
HOST = Target(python=f"{sys.version_info.major}.{sys.version_info.minor}", platform=None)


def dependencies_code(target: Target, overlay: Path | None) -> lambda_.Code:
    """Build the layer's folder of pinned third-party packages for `target`.

    Include only the botocore services in use and only the Babel languages of the templates.
    """
    spoken = languages(overlay)

    def build(output: Path) -> None:
        _install(output / "python", target, spoken)
        _compile(output, target)

    return _bundled(
        _DEPENDENCIES,
        build,
        [
            *_inputs("dependencies", _DEPENDENCIES, "requirements.txt"),
            *_inputs("assets", _ASSETS, "layers.py"),
            *_inputs("assets", _ASSETS, "aws_data.py"),
        ],
        f"{target} {sorted(spoken)}",
        target,
    )


def core_code(target: Target, overlay: Path | None) -> lambda_.Code:
    """Build the layer's folder with the `gazette` package and the templates, including an
    adopter's.
    """
    sources = [
        *_inputs("gazette", _PACKAGE, "**/*.py"),
        *_inputs("templates", _TEMPLATES, "**/*"),
        *(_inputs("own", overlay, "**/*") if overlay else []),
        *_inputs("assets", _ASSETS, "**/*.py"),
    ]
    tools = [f"{tool}=={version(tool)}" for tool in TOOLS]

    def build(output: Path) -> None:
        shutil.copytree(
            _PACKAGE,
            output / "python" / "gazette",
            ignore=shutil.ignore_patterns("__pycache__", "py.typed"),
        )
        templates = output / "python" / "gazette_templates"
        build_and_try(_TEMPLATES, templates, overlay=overlay)
        _compile(output, target)

    return _bundled(_PACKAGE, build, sources, f"{target} {tools}", target)


@cache
def interpreter_for(target: Target) -> str | None:
    """Return a Python interpreter of the target's version that can write .pyc files, or None."""
    if target.python == HOST.python:
        return sys.executable
    search = subprocess.run(
        [_uv(), "python", "find", "--no-python-downloads", target.python],
        capture_output=True,
        text=True,
        check=False,
    )
    if search.returncode == 0:
        return search.stdout.strip()
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return next((str(path) for path in pyenv.glob(f"{target.python}.*/bin/python")), None)


def languages(overlay: Path | None) -> set[str]:
    """Return the CLDR names of the templates' languages, without countries (`pt` for `pt-BR`).

    Include parent languages. For example, the file of `nb` contains only the differences from `no`.
    https://www.unicode.org/reports/tr35/#Parent_Locales
    """
    folders = [_TEMPLATES] + ([overlay] if overlay else [])
    tags = {path.name for folder in folders for path in folder.glob("locales/*/")}
    spoken = {"en", *(tag.partition("-")[0] for tag in tags)}
    parents: Mapping[str, str] = get_global("parent_exceptions")
    return spoken | {
        parent.partition("_")[0]
        for name, parent in parents.items()
        if name.partition("_")[0] in spoken
    }


def _install(folder: Path, target: Target, spoken: set[str]) -> None:
    platform = ["--python-platform", target.platform] if target.platform else []
    result = subprocess.run(
        [
            *(_uv(), "pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:"),
            *("--target", str(folder), "--python", sys.executable),
            *("--python-version", target.python, *platform),
            *("--requirement", str(_DEPENDENCIES / "requirements.txt")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise BuildError(
            f"uv could not install the dependencies layer for {target}:\n{result.stderr.strip()}"
        )
    shutil.rmtree(folder / "bin", ignore_errors=True)
    shrink(folder / "botocore" / "data")
    for locale in (folder / "babel" / "locale-data").glob("*.dat"):
        if locale.stem.partition("_")[0] not in {"root", *spoken}:
            locale.unlink()


def _compile(folder: Path, target: Target) -> None:
    """Write .pyc files that do not depend on timestamps, because zipping loses timestamps."""
    interpreter = interpreter_for(target)
    if interpreter is None:
        return
    subprocess.run(
        [
            *(interpreter, "-m", "compileall", "-q", "-j", "0"),
            *("--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", "/opt"),
            str(folder),
        ],
        check=True,
    )


def _bundled(
    source: Path, build: "Any", inputs: Iterable[tuple[str, Path]], variant: str, target: Target
) -> lambda_.Code:
    """Return a layer whose hash depends on its inputs, and not on the folders of this machine."""
    compiled = interpreter_for(target) is not None
    digest = hashlib.sha256(f"{variant} {compiled}".encode())
    for name, path in inputs:
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return lambda_.Code.from_asset(
        str(source),
        asset_hash=digest.hexdigest(),
        bundling=BundlingOptions(
            image=DockerImage.from_registry("unused"), local=_LocalBundling(build)
        ),
    )


@jsii.implements(ILocalBundling)
class _LocalBundling:
    """A build of a layer on this machine, without Docker.

    It raises an error if it fails, because the CDK would otherwise try Docker.
    """

    def __init__(self, build: "Any") -> None:
        self._build = build

    def try_bundle(self, output_dir: str, *_: object, **__: object) -> bool:
        self._build(Path(output_dir))
        return True


def _inputs(label: str, folder: Path, pattern: str) -> Iterable[tuple[str, Path]]:
    """Yield each matching file of a folder, with a name that begins with `label`, in the order of
    names.
    """
    for path in sorted(folder.glob(pattern)):
        if path.is_file():
            yield f"{label}/{path.relative_to(folder).as_posix()}", path


def _uv() -> str:
    """Return the path of uv in this environment, or else on the path."""
    own = Path(sysconfig.get_path("scripts")) / "uv"
    uv = str(own) if own.exists() else shutil.which("uv")
    if uv is None:
        raise BuildError("uv is missing. Install gazette-digest[deploy], which contains it.")
    return uv
