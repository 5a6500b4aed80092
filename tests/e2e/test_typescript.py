"""The TypeScript examples: generated types, a strict build, and both programs against a stage."""

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from demo.engine import ROOT
from tests.e2e.conftest import judged_stage
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
def answering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deployed, str]]:
    """A stage with the API for services, and the API's URL."""
    folder = tmp_path_factory.mktemp("answering")
    api = {"requests_per_second": 50}
    with judged_stage(folder, Path(__file__), services_api=api) as deployed:
        stacks = json.loads((folder / "outputs.json").read_text()).values()
        (url,) = [stack["ServicesUrl"] for stack in stacks if "ServicesUrl" in stack]
        api_id = urlsplit(url).netloc.partition(".")[0]
        # The host name of the API ends with an IP address, which is an invalid URL in Node.
        yield deployed, f"{deployed.engine.url}/_aws/execute-api/{api_id}/$default"


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


@pytest.mark.parametrize(
    ("program", "valid", "invalid", "told"),
    [
        ("producer.ts", '"comment"', "7", "Type 'number' is not assignable to type 'string'"),
        ("producer.ts", "occurred_at:", "occured_at:", "occured_at"),
        ("client.ts", '"weekly"', '"weakly"', "Type '\"weakly\"' is not assignable"),
        ("client.ts", "user_id:", "user:", "user_id"),
        ("client.ts", "/v1/subscriber/choices", "/v1/subscriber/choice", "/v1/subscriber/choice"),
    ],
)
def test_compiler_detects_a_mistake(
    project: Path, program: str, valid: str, invalid: str, told: str
) -> None:
    source = (project / program).read_text()
    assert valid in source
    wrong = project / f"wrong-{program}"
    wrong.write_text(source.replace(valid, invalid))
    try:
        done = node(project, "node", "node_modules/typescript/bin/tsc", "--noEmit")
    finally:
        wrong.unlink()
    assert done.returncode != 0
    assert told in done.stdout


def test_event_and_choice_from_typescript_are_stored(
    built: Path, answering: tuple[Deployed, str]
) -> None:
    deployed, url = answering
    deployed.service.put("subscriber.changed", [a_profile("ann")])
    deployed.service.wait_until_drained("ingest", "followers")
    run(built, "producer.js", deployed)
    deployed.service.wait_until_drained("ingest", "followers")
    receipt = json.loads(deployed.gazette("receipt", "comment-1", "--user", "ann", "--json"))
    assert receipt["receipts"][0]["state"] in {"collecting", "waiting"}
    categories = json.loads(run(built, "client.js", deployed, GAZETTE_URL=url))
    chosen = {each["category"]: each["frequency"] for each in categories}
    assert chosen["comment"] == "weekly"
