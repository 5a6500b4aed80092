"""The layers that were really built, for this machine."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from infra.assets import layers
from infra.assets.layers import languages
from infra.topology import STEPS
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


def test_checkout_location_does_not_affect_asset_hashes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hashed: list[str] = []

    def note(*_: object, **given: object) -> None:
        hashed.append(str(given["asset_hash"]))

    monkeypatch.setattr("infra.assets.layers.lambda_.Code.from_asset", note)
    real = Path(layers.__file__).parents[2]
    for name in ("one", "two"):
        root = tmp_path / name
        shutil.copytree(real / "templates", root / "templates")
        shutil.copytree(real / "templates", root / "ours")
        monkeypatch.setattr(layers, "ROOT", root)
        monkeypatch.setattr(layers, "_TEMPLATES", root / "templates")
        monkeypatch.setattr(layers, "_PACKAGE", root / "package")
        monkeypatch.setattr(layers, "_TOOLS", root / "templates" / "brand.json")
        monkeypatch.setattr(layers, "__file__", str(root / "layers.py"))
        layers.core_code(layers.HOST, root / "ours")
    assert hashed[0] == hashed[1]
