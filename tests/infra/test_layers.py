"""The layers that were really built, for this machine."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gazette_cdk.assets import layers
from gazette_cdk.assets.layers import languages
from gazette_cdk.topology import STEPS
from tests.infra.synthesis import Synthesis

_UNCHECKED_HASH = 1
"""The flags of a .pyc that is valid whatever its source says (PEP 552)."""

_LAMBDA_LIMIT = 250 * 1024 * 1024
"""Function and layers, unzipped, in bytes.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""


@pytest.fixture(scope="session")
def core(local: Synthesis) -> Path:
    return local.layer("Core") / "python"


@pytest.fixture(scope="session")
def dependencies(local: Synthesis) -> Path:
    return local.layer("Dependencies") / "python"


def test_core_layer_contains_only_the_package_and_the_templates(core: Path) -> None:
    assert {entry.name for entry in core.iterdir()} == {"gazette", "gazette_templates"}
    assert (core / "gazette" / "domain" / "model.py").is_file()


def test_core_layer_contains_every_module_of_the_package(core: Path) -> None:
    source = Path(__file__).parents[2] / "layers" / "gazette" / "python" / "gazette"
    assert _modules(core / "gazette") == _modules(source)


def test_every_folder_with_modules_is_a_package(core: Path) -> None:
    """A folder without `__init__.py` merges with whatever has its name on the path."""
    folders = {module.parent for module in core.rglob("*.py")}
    assert {folder for folder in folders if not (folder / "__init__.py").is_file()} == set()


def test_layers_contain_no_tests(core: Path) -> None:
    shipped = [path.relative_to(core) for path in core.rglob("*")]
    assert [path for path in shipped if re.search(r"\btests?\b|test_|conftest", str(path))] == []


@pytest.mark.parametrize("layer", ["core", "dependencies"])
def test_every_module_is_compiled_with_an_unchecked_hash(
    layer: str, request: pytest.FixtureRequest
) -> None:
    """Zipping loses time stamps, so a .pyc that is checked against them is thrown away."""
    folder: Path = request.getfixturevalue(layer)
    modules = list(folder.rglob("*.py"))
    assert modules
    for module in modules:
        compiled = module.parent / "__pycache__" / f"{module.stem}.{_tag()}.pyc"
        with compiled.open("rb") as file:
            header = file.read(8)
        assert int.from_bytes(header[4:], "little") == _UNCHECKED_HASH, compiled


def _tag() -> str:
    return f"cpython-{sys.version_info.major}{sys.version_info.minor}"


def test_shipped_emails_have_inlined_styles_and_intact_tags(core: Path) -> None:
    layout, group = (
        (core / "gazette_templates" / name).read_text()
        for name in ("parts/layout.html", "digest/block.html")
    )
    source = (Path(__file__).parents[2] / "templates" / "digest" / "block.html").read_text()
    assert re.search(r"<body[^>]* style=", layout)
    assert re.search(r'<a class="title"[^>]* style="[^"]*\{\{ brand\.accent \}\}', group)
    sheet = re.sub(r"<!--.*?-->", "", layout, flags=re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", sheet, re.DOTALL)
    assert style, "the style sheet, besides those for Outlook in comments"
    assert style[1].lstrip().startswith("@media")
    assert "jinja" not in layout + group
    assert set(re.findall(r"\{%.*?%\}", source)) <= set(re.findall(r"\{%.*?%\}", group))


def test_only_template_languages_are_shipped(dependencies: Path) -> None:
    """All of CLDR is 30 MB."""
    shipped = list((dependencies / "babel" / "locale-data").glob("*.dat"))
    languages = {locale.stem.partition("_")[0] for locale in shipped}
    assert languages == {"root", "en", "de", "he"}
    assert {"en_GB", "de_AT", "he_IL"} <= {locale.stem for locale in shipped}
    assert sum(locale.stat().st_size for locale in shipped) < 1_000_000


def test_dependencies_layer_contains_all_function_imports(dependencies: Path) -> None:
    for package in (
        "pynamodb",
        "jinja2",
        "aws_lambda_powertools",
        "babel",
        "boto3",
        "pydantic",
        "tzdata",
    ):
        assert (dependencies / package / "__init__.py").is_file(), package
    assert (dependencies / "tzdata/zoneinfo/Europe/Berlin").is_file(), "PINNED_ZONES names it"


def test_dependencies_layer_contains_only_the_aws_services_used(
    dependencies: Path,
) -> None:
    """Powertools reads secrets; PynamoDB calls DynamoDB."""
    package = Path(__file__).parents[2] / "layers" / "gazette" / "python" / "gazette"
    source = "".join(module.read_text() for module in package.rglob("*.py"))
    called = set(re.findall(r"\bclient\(\s*\"([a-z0-9-]+)\"", source))
    data = dependencies / "botocore" / "data"
    shipped = {service.name for service in data.iterdir() if service.is_dir()}
    assert shipped == called | {"dynamodb", "secretsmanager"}
    assert (data / "endpoints.json").is_file()


def test_dependencies_layer_contains_no_build_or_test_tools(
    dependencies: Path,
) -> None:
    shipped = {entry.name for entry in dependencies.iterdir()}
    building = {"premailer", "lxml", "cssutils", "aws_cdk", "constructs", "jsii", "moto", "pytest"}
    reporting = {"numpy", "pandas", "scipy", "statsmodels", "rich", "typer"}
    assert shipped & (building | reporting) == set()
    assert "gazette" not in shipped


def test_layers_fit_the_lambda_size_limit(core: Path, dependencies: Path) -> None:
    size = sum(
        path.stat().st_size
        for layer in (core, dependencies)
        for path in layer.rglob("*")
        if path.is_file()
    )
    assert size < _LAMBDA_LIMIT


def test_function_package_contains_only_its_handler(local: Synthesis) -> None:
    for step in STEPS:
        _, function = local.function(step.name)
        asset = local.folder / f"asset.{function['Code']['S3Key'].removesuffix('.zip')}"
        assert [path.name for path in asset.rglob("*")] == ["handler.py"]


def _modules(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}


def test_language_is_shipped_with_its_parent_locale(tmp_path: Path) -> None:
    """Without `no`, every date in Norwegian is a file that is not there."""
    for tag in ("nb", "pt-BR", "ht"):
        (tmp_path / "locales" / tag).mkdir(parents=True)
    assert {"nb", "no", "pt", "ht", "fr", "en", "de", "he"} <= languages(tmp_path)
    assert not {"no", "fr", "pt"} & languages(None)


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, Path], tuple[str, str]]:
    """Return the hashes of both layers for a folder of Gazette and a folder of own templates."""
    hashed: list[str] = []

    def note(*_: object, **given: object) -> None:
        hashed.append(str(given["asset_hash"]))

    def of(gazette: Path, own: Path) -> tuple[str, str]:
        monkeypatch.setattr(layers, "_ASSETS", gazette / "assets")
        monkeypatch.setattr(layers, "_DEPENDENCIES", gazette / "dependencies")
        monkeypatch.setattr(layers, "_PACKAGE", gazette / "package")
        monkeypatch.setattr(layers, "_TEMPLATES", gazette / "templates")
        layers.dependencies_code(layers.HOST, own)
        layers.core_code(layers.HOST, own)
        return hashed[-2], hashed[-1]

    monkeypatch.setattr("gazette_cdk.assets.layers.lambda_.Code.from_asset", note)
    return of


def _gazette(at: Path) -> Path:
    for name in (
        "assets/layers.py",
        "assets/aws_data.py",
        "assets/templates/build.py",
        "dependencies/requirements.txt",
        "dependencies/requirements.in",
        "package/domain/model.py",
        "package/py.typed",
        "templates/digest/body.txt",
    ):
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(name)
    return at


def _own(at: Path) -> Path:
    (at / "digest").mkdir(parents=True)
    (at / "digest" / "subject.txt").write_text("Good morning")
    return at


def test_locations_of_gazette_and_of_own_templates_do_not_affect_layer_hashes(
    hashes: Callable[[Path, Path], tuple[str, str]], tmp_path: Path
) -> None:
    near = hashes(_gazette(tmp_path / "venv"), _own(tmp_path / "own"))
    far = hashes(_gazette(tmp_path / "a" / "deep" / "venv"), _own(tmp_path / "b" / "mine"))
    assert near == far


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("venv/assets/layers.py", (True, True)),
        ("venv/assets/aws_data.py", (True, True)),
        ("venv/assets/templates/build.py", (False, True)),
        ("venv/dependencies/requirements.txt", (True, False)),
        ("venv/dependencies/requirements.in", (False, False)),
        ("venv/package/domain/model.py", (False, True)),
        ("venv/package/py.typed", (False, False)),
        ("venv/templates/digest/body.txt", (False, True)),
        ("own/digest/subject.txt", (False, True)),
    ],
)
def test_change_of_a_layers_input_changes_its_hash(
    changed: str,
    expected: tuple[bool, bool],
    hashes: Callable[[Path, Path], tuple[str, str]],
    tmp_path: Path,
) -> None:
    gazette, own = _gazette(tmp_path / "venv"), _own(tmp_path / "own")
    before = hashes(gazette, own)
    (tmp_path / changed).write_text("changed")
    after = hashes(gazette, own)
    assert (before[0] != after[0], before[1] != after[1]) == expected


def test_versions_of_the_build_tools_change_the_hash_of_the_templates(
    hashes: Callable[[Path, Path], tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    gazette, own = _gazette(tmp_path / "venv"), _own(tmp_path / "own")
    before = hashes(gazette, own)
    monkeypatch.setattr(layers, "version", lambda tool: "0.1" if tool == "premailer" else "1")
    after = hashes(gazette, own)
    assert (before[0] == after[0], before[1] == after[1]) == (True, False)
