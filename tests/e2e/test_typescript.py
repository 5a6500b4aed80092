"""The TypeScript examples: generated types, a strict build, and both programs against a stage."""

import json
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from demo.engine import ROOT
from tests.stage import Deployed, a_profile

EXAMPLE = ROOT / "examples" / "typescript"
PAGE = ROOT / "docs" / "other-languages.md"
INSTALLED = ROOT / ".clients"
PROGRAMS = ("producer.ts", "client.ts")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with types from the committed documents."""
    folder = tmp_path_factory.mktemp("typescript")
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    (folder / "node_modules").symlink_to(INSTALLED / "node_modules")
    assert node(folder, "npm", "run", "generate", DOCS=str(ROOT / "docs")).returncode == 0
    return folder


@pytest.fixture(scope="module")
def built(project: Path) -> Path:
    """The project, compiled by its own strict settings."""
    done = node(project, "npm", "run", "build")
    assert done.returncode == 0, done.stdout
    return project


@pytest.fixture(scope="module")
def url(stage: Deployed) -> str:
    """The URL of the stage's API for services."""
    host = urlsplit(stage.outputs["ServicesUrl"]).netloc
    # The host name of the API ends with an IP address, which is an invalid URL in Node.
    return f"{stage.engine.url}/_aws/execute-api/{host.partition('.')[0]}/$default"


def node(folder: Path, program: str, *arguments: str, **environment: str) -> Any:
    """Run a program of the environment's Node, and return what it wrote."""
    scripts = sysconfig.get_path("scripts")
    return subprocess.run(
        [str(Path(scripts) / program), *arguments],
        cwd=folder,
        env={**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def run(built: Path, program: str, deployed: Deployed, **environment: str) -> str:
    done = node(
        built,
        "node",
        f"build/{program}",
        **deployed.engine.environment,
        **environment,
    )
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@pytest.mark.parametrize("program", PROGRAMS)
def test_examples_are_as_short_as_the_docs_say(program: str) -> None:
    lines = (EXAMPLE / program).read_text().splitlines()
    assert len([line for line in lines if line and not line.startswith("//")]) <= 12


@pytest.mark.parametrize("program", PROGRAMS)
def test_page_contains_the_programs(program: str) -> None:
    assert f"```ts\n{(EXAMPLE / program).read_text()}```" in PAGE.read_text()


MISTAKES = (
    ("producer.ts", '"comment"', "7", "Type 'number' is not assignable to type 'string'"),
    ("producer.ts", "occurred_at:", "occured_at:", "occured_at"),
    ("client.ts", '"weekly"', '"weakly"', "Type '\"weakly\"' is not assignable"),
    ("client.ts", "user_id:", "user:", "user_id"),
    ("client.ts", "/v1/subscriber/choices", "/v1/subscriber/choice", "/v1/subscriber/choice"),
)
"""A program, what stands in it, the mistake instead, and what the compiler says about it."""


@pytest.fixture(scope="module")
def told(project: Path) -> str:
    """What the compiler says about one program for each mistake. It runs once, because it takes
    seconds.
    """
    wrong = [project / f"wrong-{number}-{name}" for number, (name, *_) in enumerate(MISTAKES)]
    for path, (program, valid, invalid, _) in zip(wrong, MISTAKES, strict=True):
        source = (project / program).read_text()
        assert valid in source
        path.write_text(source.replace(valid, invalid))
    try:
        done = node(project, "node", "node_modules/typescript/bin/tsc", "--noEmit")
    finally:
        for path in wrong:
            path.unlink()
    assert done.returncode != 0
    return str(done.stdout)


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_compiler_detects_a_mistake(told: str, number: int) -> None:
    program, _, _, words = MISTAKES[number]
    of_program = re.split(r"^(?=\S+\.ts\()", told, flags=re.MULTILINE)
    found = [each for each in of_program if each.startswith(f"wrong-{number}-{program}(")]
    assert any(words in each for each in found), told


def test_event_and_choice_from_typescript_are_stored(
    built: Path, deployed: Deployed, url: str
) -> None:
    deployed.service.put("subscriber.changed", [a_profile("ann")])
    deployed.service.wait_until_drained("ingest", "followers")
    run(built, "producer.js", deployed)
    deployed.service.wait_until_drained("ingest", "followers")
    receipt = json.loads(deployed.gazette("receipt", "comment-1", "--user", "ann", "--json"))
    assert receipt["receipts"][0]["state"] in {"collecting", "waiting"}
    categories = json.loads(run(built, "client.js", deployed, GAZETTE_URL=url))
    chosen = {each["category"]: each["frequency"] for each in categories}
    assert chosen["comment"] == "weekly"
