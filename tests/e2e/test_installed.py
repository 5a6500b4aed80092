"""Gazette without its repository: a wheel in empty environments, a new project, and an email."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from hatchling.builders.wheel import WheelBuilder

from demo.engine import ROOT, deploy_app, running
from demo.service import Service
from demo.ses import StandIn
from gazette_cdk.assets.layers import LAMBDA, interpreter_for
from gazette_cdk.stacks.version import gazette_version
from tests.configuration_page import toml
from tests.stage import FEW, Deployed, a_comment, a_profile, next_due

STAGE = "test"
UNBUNDLED: Mapping[str, list[str]] = {"aws:cdk:bundling-stacks": []}


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment that contains only the wheel and its dependencies."""

    folder: Path

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    def run(self, *command: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command as after the activation of the environment."""
        path = f"{self.folder / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=cwd,
            env={"PATH": path, "HOME": str(Path.home()), **variables},
            capture_output=True,
            text=True,
            check=False,
        )


def environment(folder: Path, wheel: Path, python: str, *, extra: str = "") -> Environment:
    """Install the wheel with the versions that this repository pins.

    `extra` is an extra of the wheel, such as `[deploy]`.
    """
    uv = str(Path(sysconfig.get_path("scripts")) / "uv")
    made = Environment(folder)
    for command in (
        [uv, "venv", "--quiet", "--python", python, str(folder)],
        [
            *(uv, "pip", "install", "--quiet", "--python", made.python),
            *("--constraint", str(ROOT / "requirements" / "dev.txt"), f"{wheel}{extra}"),
        ],
    ):
        subprocess.run(command, check=True)
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder))
    return Path(built)


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment for people who only use the command."""
    return environment(tmp_path_factory.mktemp("bare") / ".venv", wheel, sys.executable)


@pytest.fixture(scope="module")
def near(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment of Lambda's Python version, or else of this one."""
    python = interpreter_for(LAMBDA) or sys.executable
    return environment(tmp_path_factory.mktemp("near") / ".venv", wheel, python, extra="[deploy]")


@pytest.fixture(scope="module")
def far(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment of the engine's Python version, in a folder of another depth."""
    folder = tmp_path_factory.mktemp("far") / "of" / "another" / "depth" / ".venv"
    return environment(folder, wheel, sys.executable, extra="[deploy]")


@pytest.fixture(scope="module")
def shop(near: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new project."""
    folder = tmp_path_factory.mktemp("projects")
    done = near.run("gazette", "init", "shop", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "npx cdk deploy --all" in done.stdout
    return folder / "shop"


_IMPORT_ALL = """
import importlib, pkgutil, sys
import gazette, gazette_cli, gazette_support
for package in (gazette, gazette_support, gazette_cli):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name != "gazette_cli.init.scaffold":
            importlib.import_module(module.name)
print(len(sys.modules))
"""


def test_wheel_without_extras_works_in_an_empty_environment(
    bare: Environment, tmp_path: Path
) -> None:
    """Every module can be imported, and the command creates a project."""
    done = bare.run("python", "-c", _IMPORT_ALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = bare.run("gazette", "--version", cwd=tmp_path)
    assert done.stdout.startswith(f"gazette {gazette_version()} ("), done.stderr
    done = bare.run("gazette", "init", "shop", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    requirements = (tmp_path / "shop" / "requirements.txt").read_text()
    assert f"gazette-digest[deploy]=={gazette_version()}" in requirements


@pytest.fixture(scope="module")
def tested(
    near: Environment, shop: Path, tmp_path_factory: pytest.TempPathFactory
) -> subprocess.CompletedProcess[str]:
    """The first run of the project's own tests. Its arguments end with the assembly."""
    folder = tmp_path_factory.mktemp("tested")
    done = near.run("python", "-m", "unittest", cwd=shop, CDK_OUTDIR=str(folder))
    done.args = [*done.args, str(folder)]
    return done


@pytest.mark.long
def test_tests_of_a_new_project_pass_and_detect_a_lost_table(
    near: Environment, shop: Path, tested: subprocess.CompletedProcess[str]
) -> None:
    assert tested.returncode == 0, tested.stderr
    file = shop / "tests" / "kept.json"
    kept = json.loads(file.read_text())
    assert [*kept] == [STAGE]
    runs = next(name for name in kept[STAGE] if name.startswith("Runs"))
    file.write_text(json.dumps({STAGE: {**kept[STAGE], f"Old{runs}": kept[STAGE][runs]}}))
    done = near.run("python", "-m", "unittest", cwd=shop)
    assert done.returncode == 1
    assert f"Old{runs}" in done.stderr


def synthesised(by: Environment, shop: Path, folder: Path) -> set[str]:
    """The hashes of all assets, by which the CDK decides what to upload and to deploy."""
    done = by.run(
        *("python", "app.py"),
        cwd=shop,
        CDK_OUTDIR=str(folder),
        CDK_CONTEXT_JSON=json.dumps(UNBUNDLED),
        CDK_VALIDATION="false",
    )
    assert done.returncode == 0, done.stderr
    return hashes_in(folder)


def hashes_in(folder: Path) -> set[str]:
    """The hashes of all assets in an assembly."""
    texts = [file.read_text() for file in folder.glob("*.template.json")]
    assert len(texts) == 2
    return {name for text in texts for name in re.findall(r"\b[0-9a-f]{64}\.zip", text)}


@pytest.mark.long
def test_paths_of_environments_do_not_change_an_asset(
    tested: subprocess.CompletedProcess[str], far: Environment, shop: Path, tmp_path: Path
) -> None:
    """The tests of the project synthesise in the first environment."""
    hashes = hashes_in(Path(tested.args[-1]))
    assert len(hashes) > 8, "two layers and the functions"
    assert hashes == synthesised(far, shop, tmp_path / "far")


@pytest.mark.long
def test_prod_with_placeholders_is_refused_line_by_line(
    near: Environment, shop: Path, tmp_path: Path
) -> None:
    settings = (shop / "gazette.toml").read_text()
    commented = [line.removeprefix("# ") for line in settings.split("# [prod]")[1].splitlines()]
    (tmp_path / "gazette.toml").write_text("[prod]" + "\n".join(commented))
    for name in ("app.py", "brand"):
        (tmp_path / name).symlink_to(shop / name)
    done = near.run(
        "python", "app.py", cwd=tmp_path, CDK_CONTEXT_JSON=json.dumps({"stage": "prod"})
    )
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert all(line.startswith("gazette: Stage 'prod' in gazette.toml: ") for line in lines)
    assert {line.split()[5] for line in lines} == {
        *("sender", "list_id", "alarm_email", "links_domain")
    }


def _local(**changed: object) -> str:
    """The settings of the stage `local` in the repository's cdk.json, as TOML."""
    local: Mapping[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"][
        "local"
    ]
    given = {"sender", "list_id", "sandbox", "retain"}  # in the file that `gazette init` writes
    values = {name: value for name, value in {**local, **changed}.items() if name not in given}
    return "\n".join(f"{name} = {toml(value)}" for name, value in values.items())


@pytest.fixture(scope="module")
def deployed(
    far: Environment, shop: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployed]:
    """The project, deployed to the engine with the engine's settings."""
    folder = tmp_path_factory.mktemp("engine")
    file = shop / "gazette.toml"
    with StandIn() as ses, running(ses_url=ses.url, folder=folder) as engine:
        settings = file.read_text()
        added = _local(concurrency=FEW, base_url=ses.url)
        file.write_text(settings.replace("\n[test]\n", f"\n[test]\n{added}\n"))
        outputs = deploy_app(engine, folder, [far.python, "app.py"], context={}, project=shop)
        yield Deployed(engine, Service.at(engine, outputs, stage=STAGE), ses)


@pytest.mark.long
def test_installed_stage_sends_the_first_email(
    deployed: Deployed, far: Environment, shop: Path
) -> None:
    deployed.service.put("subscriber.changed", [a_profile("ann")])
    deployed.service.put("event.created", [a_comment("ann", number) for number in range(3)])
    deployed.settle()
    deployed.tick(next_due())
    (mail,) = deployed.inbox("ann")
    assert mail.message["From"] == "Shop <digest@shop.example>"
    assert "Shop" in mail.part("html"), "the brand of the project"
    done = far.run(
        *("gazette", "explain", "ann", "--stage", STAGE),
        cwd=shop,
        **deployed.engine.environment,
    )
    assert done.returncode == 0, done.stderr
    assert "sent" in done.stdout


@pytest.mark.long
def test_apps_in_other_languages_find_the_stage(deployed: Deployed) -> None:
    parameters = boto3.client(
        "ssm",
        endpoint_url=deployed.engine.url,
        region_name=deployed.engine.environment["AWS_REGION"],
        aws_access_key_id=deployed.engine.environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=deployed.engine.environment["AWS_SECRET_ACCESS_KEY"],
    )
    page = (ROOT / "docs" / "typescript-cdk.md").read_text()
    names = set(re.findall(r"^\| `/gazette/<stage>/(\S+)` \|", page, re.MULTILINE))
    found = {
        each["Name"].removeprefix(f"/gazette/{STAGE}/"): each["Value"]
        for each in parameters.get_parameters_by_path(Path=f"/gazette/{STAGE}")["Parameters"]
    }
    assert found.keys() == names - {"services-url"}, "the stage has no API for services"
    assert found["bus-name"] == "gazette-test"
    assert found["bus-arn"].endswith(":event-bus/gazette-test")
    assert found["preferences-url"].startswith("http")
