"""What a cold start imports, counted: each function only what it needs."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = {
    f"gazette.settings.{path.stem}"
    for path in (ROOT / "layers/gazette/python/gazette/settings").glob("[a-z]*.py")
}
HEAVY = {
    "asyncio",
    "aws_lambda_powertools.event_handler",
    "aws_lambda_powertools.logging",
    "aws_lambda_powertools.metrics",
    "aws_lambda_powertools.utilities.batch",
    "aws_lambda_powertools.utilities.data_classes",
    "aws_lambda_powertools.utilities.parameters",
    "aws_lambda_powertools.utilities.parser",
    "aws_xray_sdk",
    "babel",
    "boto3",
    "botocore",
    "email.mime",
    "fastjsonschema",
    "gazette.adapters.mail.smtp",
    "jinja2",
    "jmespath",
    "lxml",
    "multiprocessing",
    "markupsafe",
    "numpy",
    "premailer",
    "pydantic",
    "pynamodb",
    "requests",
    "s3transfer",
    "smtplib",
    "statsmodels",
    "tzdata",
}

_PROGRAM = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
print(json.dumps(sorted(name for name in sys.modules)))
"""


@cache
def imported_by(function: str) -> frozenset[str]:
    """The modules in memory after the handler was imported, in a process with no AWS settings."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS")}
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", _PROGRAM, f"functions.{function}.handler"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return frozenset(json.loads(result.stdout))


def is_pythons_own(name: str) -> bool:
    """True for `email.message`: what the standard library imports differs by version."""
    return name.partition(".")[0] in sys.stdlib_module_names


EACH = {
    "aws_lambda_powertools.logging",
    "aws_lambda_powertools.metrics",
    "botocore",
    "jmespath",
    "pynamodb",
}
API = {
    "asyncio",
    "aws_lambda_powertools.event_handler",
    "aws_lambda_powertools.utilities.data_classes",
    "pydantic",
}
PAGES = EACH | {"babel", "jinja2", "markupsafe"}


@pytest.mark.parametrize(
    ("function", "expected", "most"),
    [
        ("ingest", EACH | {"pydantic"}, 405),
        ("followers", EACH, 325),
        ("fanout", EACH, 312),
        ("generate", PAGES, 395),
        ("resend", PAGES, 390),
        ("feedback", EACH, 320),
        ("sweep", EACH, 322),
        ("preferences", PAGES, 415),
        ("content", EACH | {"pydantic"}, 405),
        ("outbox", EACH, 300),
        ("api", EACH | API, 527),
        ("api_writes", EACH | API, 515),
        ("support", EACH, 415),
        ("support_redrive", EACH, 395),
    ],
)
def test_function_imports_only_required_modules(
    function: str, expected: set[str], most: int
) -> None:
    """`most`: how many modules of ours and of libraries, with room for ten more."""
    modules = imported_by(function)
    assert modules & HEAVY == expected
    assert len([name for name in modules if not is_pythons_own(name)]) <= most


_SCHEMAS = """
import json, sys
from gazette.bootstrap.ingest import data_schemas
before = set(sys.modules)
known = data_schemas()
print(json.dumps([sorted(known), sorted(set(sys.modules) - before)]))
"""


@pytest.mark.parametrize("has_one", [False, True])
def test_ingest_imports_schema_validation_only_if_schemas_exist(
    tmp_path: Path, has_one: bool
) -> None:
    folder = tmp_path / "gazette_templates" / "categories" / "build"
    folder.mkdir(parents=True)
    (tmp_path / "gazette_templates" / "__init__.py").touch()
    if has_one:
        (folder / "data.schema.json").write_text('{"required": ["number"]}')
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", _SCHEMAS],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    known, imported = json.loads(result.stdout)
    assert known == ["build"] * has_one
    assert ("fastjsonschema" in imported) == has_one
    assert not {"jsonschema", "jinja2", "babel"} & {*imported}
    if not has_one:
        assert [name for name in imported if not is_pythons_own(name)] == ["gazette_templates"]


@pytest.mark.parametrize("function", ["ingest", "generate", "feedback", "preferences", "sweep"])
def test_function_imports_only_its_own_settings(function: str) -> None:
    """Each is a dataclass of dozens of fields."""
    shared = {"budgets", "environment", "ranges"}
    own = {
        "generate": {"arrangement", "delivery", "ingest", "pacing"},
        "preferences": {"arrangement", "preferences", "ingest"},
        "sweep": {"sweep", "pacing"},
    }
    stages = {name.rpartition(".")[2] for name in imported_by(function) if name in SETTINGS}
    assert stages - shared == own.get(function, {function})
