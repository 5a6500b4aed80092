"""docs/cli grants each command every call to AWS that it makes."""

import hashlib
import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gazette
import pytest
from gazette.domain.model import DAILY
from gazette.domain.scheduling.kinds import immediate_schedule
from jinja2 import Environment
from typer.testing import CliRunner

from gazette_cdk.assets.templates import trial
from gazette_cdk.assets.templates.trial import try_out
from gazette_cli.reference.permissions import OF_VERSION, PERMISSIONS, Grant
from gazette_cli.templates import building, deployed
from tests.functions.conftest import Cloud
from tests.functions.deployed import publish_layer

PACKAGE = Path(gazette.__path__[0])


@pytest.fixture(scope="session")
def layer(built_templates: Path) -> bytes:
    """The layer that has the templates as we ship them."""
    return archived(built_templates)


@pytest.fixture(scope="session", autouse=True)
def templates_are_tried_out_once() -> Iterator[None]:
    """The same templates render the same emails: what was tried out need not be again.

    The first templates of a process render every email. The others render a digest and an immediate
    email in each language and variation, because tests/unit/rendering/test_trial.py has the rest.
    """
    tried: set[tuple[object, bytes]] = set()

    def once(
        folder: Path,
        *,
        kind: type[Environment] | None = None,
        sources: Sequence[Path] = (),
    ) -> None:
        key = kind, _checksum(folder)
        if key not in tried:
            with pytest.MonkeyPatch.context() as patch:
                if tried:
                    patch.setattr(trial, "_SCHEDULES", (DAILY, immediate_schedule("post#1")))
                try_out(folder, kind=kind, sources=sources)
            tried.add(key)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "try_out", once)
        yield


def _checksum(folder: Path) -> bytes:
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.*")):
        digest.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes())
    return digest.digest()


@pytest.fixture
def layers(cloud: Cloud, layer: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The ARNs of two layers, the smaller of which has the templates, and what they lead to."""
    packages = publish_layer("Dependencies", b"x" * (len(layer) + 1))
    core = publish_layer("Core", layer)
    cloud.answers["GetLayerVersionByArn"] = lambda asked: {"Content": {"Location": asked["Arn"]}}
    monkeypatch.setattr(deployed, "fetch", {core: layer}.__getitem__)
    return packages, core


def archived(templates: Path) -> bytes:
    """A layer that has these built templates, as Lambda gives it."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for file in PACKAGE.rglob("*.py"):
            archive.write(file, f"python/gazette/{file.relative_to(PACKAGE)}")
        for file in templates.rglob("*"):
            archive.write(file, f"python/gazette_templates/{file.relative_to(templates)}")
    return into.getvalue()


@pytest.fixture(autouse=True)
def commands_keep_to_their_policy(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "cloud" not in request.fixturenames:
        return
    cloud: Cloud = request.getfixturevalue("cloud")
    invoke: Any = CliRunner.invoke

    def held(self: CliRunner, app: Any, arguments: Sequence[str], **options: Any) -> Any:
        actor = cloud.meter.actor
        before = cloud.meter.grants.pop(actor, set())
        result = invoke(self, app, arguments, **options)
        called = cloud.meter.grants[actor]
        path = command_of(arguments)
        assert not outside(path, called)[1], path
        cloud.meter.grants[actor] = before | called
        return result

    monkeypatch.setattr(CliRunner, "invoke", held)


def outside(path: str, called: set[Grant]) -> tuple[set[Grant], set[Grant]]:
    """What a command is granted and does not call, and what it calls without a grant.

    `queue/*` grants any queue.
    """
    granted = OF_VERSION if path == "--version" else PERMISSIONS.get(path, frozenset())

    def covers(grant: Grant, call: Grant) -> bool:
        return grant == call or (
            grant[0].endswith("/*")
            and "/index/" not in call[0]
            and grant[1] == call[1]
            and call[0].startswith(grant[0].removesuffix("*"))
        )

    never = {grant for grant in granted if not any(covers(grant, call) for call in called)}
    return never, {call for call in called if not any(covers(grant, call) for grant in granted)}


def command_of(arguments: Sequence[str]) -> str:
    """The path of the command that the arguments call; empty if they call none."""
    paths = (" ".join(arguments[:words]) for words in (2, 1))
    return next((path for path in paths if path in {*PERMISSIONS, "--version"}), "")
