"""Tests of the settings of mypy."""

import ast
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

from tests.unit.house.test_architecture import imports

ROOT = Path(__file__).parents[3]
MYPY = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]

_CDK = find_spec("aws_cdk")
assert _CDK
MODULES = frozenset(
    f"aws_cdk.{each.name}" for each in iter_modules(_CDK.submodule_search_locations)
)


def modules_of_the_cdk(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of the CDK that a file imports."""
    return (name for name in imports(tree, MODULES) if name.startswith("aws_cdk."))


def test_mypy_reads_exactly_the_modules_of_the_cdk_that_are_imported() -> None:
    """mypy treats everything of a module that it does not read as Any, without an error."""
    (read,) = (
        set(each["module"]) for each in MYPY["overrides"] if each.get("follow_imports") == "normal"
    )
    imported = {
        module
        for folder in MYPY["files"]
        for file in (ROOT / folder).rglob("*.py")
        if "aws_cdk" in (text := file.read_text())
        for module in modules_of_the_cdk(ast.parse(text))
    }
    assert read - {"aws_cdk", "aws_cdk._jsii"} == imported


def test_imports_of_the_cdk_are_found() -> None:
    code = (
        "import aws_cdk.aws_sqs\nfrom aws_cdk import App, aws_sns\nfrom aws_cdk.aws_kms import Key"
    )
    found = modules_of_the_cdk(ast.parse(code))
    assert list(found) == ["aws_cdk.aws_sqs", "aws_cdk.aws_sns", "aws_cdk.aws_kms"]
