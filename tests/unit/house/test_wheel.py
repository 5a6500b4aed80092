"""Tests of the wheel: its files, its dependencies, and the command line without extras."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from gazette_cdk.assets import layers
from tests.unit.house.test_architecture import SHIPPED, imports, modules

ROOT = Path(__file__).parents[3]
BUNDLE = "gazette_cdk/_bundle"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the content of the wheel, as in an installation."""
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder / "dist"))
    assert Path(wheel).name.startswith("gazette_digest-")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(site: Path, code: str, *, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run code with the packages of the wheel instead of those of the checkout."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )


def files_in(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_wheel_contains_every_file_that_a_project_needs(unpacked: Path) -> None:
    for name in ("functions", "templates", "docs/api", "docs/events", "docs/runbook"):
        assert files_in(unpacked / BUNDLE / name) == files_in(ROOT / name), name
    for package in ("gazette", "gazette_cdk", "gazette_cli", "gazette_support"):
        files = {each for each in files_in(unpacked / package) if not each.startswith("_bundle/")}
        assert files == files_in(SHIPPED[package] / package), package
    for file in (
        *("layers/dependencies/requirements.txt", "producer/gazette_events.py"),
        *("cdk.json", "package.json"),
    ):
        assert (unpacked / BUNDLE / file).read_bytes() == (ROOT / file).read_bytes()


def test_wheel_adds_only_packages_of_gazette_to_an_environment(unpacked: Path) -> None:
    names = {each.name for each in unpacked.iterdir() if not each.name.endswith(".dist-info")}
    assert names == {"gazette", "gazette_cdk", "gazette_cli", "gazette_support"}
    assert [each for each in files_in(unpacked) if "test" in each.split("/")] == []


def test_dependencies_contain_every_imported_package() -> None:
    """The extras contain the CDK, and the statistics of experiments."""
    declared = {_name(each) for each in PROJECT["dependencies"]}
    deploy, statistics = (
        {_name(each) for each in PROJECT["optional-dependencies"][extra]}
        for extra in ("deploy", "statistics")
    )
    distributions = packages_distributions()
    missing = {}
    for name, tree in modules(SHIPPED).items():
        known = declared | (deploy | {"constructs", "jsii"} if _is_cdk(name) else set())
        known |= statistics if name == "gazette_cli.statistics.comparisons" else set()
        for imported in imports(_without_types(tree)):
            top = imported.partition(".")[0]
            if top in sys.stdlib_module_names or top in {"", *SHIPPED}:
                continue
            if not known & {_name(each) for each in distributions.get(top, [top])}:
                missing[name] = imported
    # powertools brings pydantic, boto3 brings botocore and urllib3, and jinja2 brings markupsafe
    brought = {"pydantic", "pydantic_core", "botocore", "urllib3", "markupsafe"}
    assert {
        name: each for name, each in missing.items() if each.partition(".")[0] not in brought
    } == {}


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=~! ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def _is_cdk(name: str) -> bool:
    return name.startswith("gazette_cdk.")


def _without_types(tree: ast.Module) -> ast.Module:
    """Return the module without the imports for type checkers."""
    kept = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    return ast.Module(body=kept, type_ignores=[])


_WITHOUT_EXTRAS = """
import sys
for name in ("aws_cdk", "constructs", "jsii", "statsmodels", "scipy", "numpy", "pandas"):
    sys.modules[name] = None
from gazette_cli.main import main
sys.argv = ["gazette", *{arguments}]
main()
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--version"], "gazette "),
        (["cost", "--readers", "1", "--stage", "test"], "DynamoDB"),
        (["event", "schemas"], "schemas/event.created.schema.json"),
        (["init", "shop"], "shop/app.py"),
    ],
)
def test_installed_command_needs_no_extra(
    arguments: list[str], words: str, unpacked: Path, tmp_path: Path
) -> None:
    (tmp_path / "gazette.toml").write_text(
        "[test]\nsender = 'digest@shop.dev'\nlist_id = 'digest.shop.dev'\n"
    )
    done = run(unpacked, _WITHOUT_EXTRAS.format(arguments=arguments), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout


def test_command_without_its_extra_names_the_extra(unpacked: Path, tmp_path: Path) -> None:
    code = _WITHOUT_EXTRAS.partition("from gazette_cli")[0] + (
        "from gazette_cli.statistics.comparisons import compare\n"
        "from gazette_support.domain.experiment_readers import Arm\n"
        "from collections import Counter\n"
        "try:\n"
        "    compare([Arm('1', 10, Counter()), Arm('2', 10, Counter())])\n"
        "except Exception as err:\n"
        "    print(type(err).__name__, err)\n"
    )
    done = run(unpacked, code, cwd=tmp_path)
    assert done.stdout.startswith("NotPossible "), done.stderr
    assert "Install gazette-digest[statistics]" in done.stdout


def test_command_outside_of_a_project_says_where_to_run_it(unpacked: Path, tmp_path: Path) -> None:
    arguments = ["cost", "--readers", "1"]
    done = run(unpacked, _WITHOUT_EXTRAS.format(arguments=arguments), cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"gazette: {tmp_path} and its parent folders have no gazette.toml")


def test_app_outside_of_a_project_is_refused_in_one_line(unpacked: Path, tmp_path: Path) -> None:
    done = run(unpacked, "from gazette_cdk.app import main; main()", cwd=tmp_path)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"gazette: {tmp_path}/cdk.json is unreadable or has no context")
    assert done.returncode == 1


_HASHES = """
from gazette_cdk.assets import layers
layers.lambda_.Code.from_asset = lambda *_, asset_hash, **__: print(asset_hash)
layers.interpreter_for = lambda target: "python"
for code in (layers.dependencies_code, layers.core_code):
    code(layers.LAMBDA, None)
"""


def test_layers_of_the_wheel_have_the_hashes_of_the_checkout(
    unpacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes: list[str] = []

    def note(*_: object, asset_hash: str, **__: object) -> None:
        hashes.append(asset_hash)

    monkeypatch.setattr("gazette_cdk.assets.layers.lambda_.Code.from_asset", note)
    monkeypatch.setattr(layers, "interpreter_for", lambda _: "python")
    for code in (layers.dependencies_code, layers.core_code):
        code(layers.LAMBDA, None)
    done = run(unpacked, _HASHES, cwd=tmp_path)
    assert done.stdout.split() == hashes, done.stderr
