"""Tests of the settings of mypy."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
MYPY = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]


def modules_of_the_cdk(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of the CDK that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("aws_cdk"))
        elif isinstance(node, ast.ImportFrom) and node.module == "aws_cdk":
            yield from (f"aws_cdk.{each.name}" for each in node.names if each.name[0].islower())
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aws_cdk."):
            yield str(node.module)


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
    assert read - {"aws_cdk", "aws_cdk._jsii"} == imported - {"aws_cdk"}


def test_imports_of_the_cdk_are_found() -> None:
    code = (
        "import aws_cdk.aws_sqs\nfrom aws_cdk import App, aws_sns\nfrom aws_cdk.aws_kms import Key"
    )
    found = modules_of_the_cdk(ast.parse(code))
    assert list(found) == ["aws_cdk.aws_sqs", "aws_cdk.aws_sns", "aws_cdk.aws_kms"]
