"""What a cold start imports, counted: each function only what it needs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA_CLASSES = "aws_lambda_powertools.utilities.data_classes"
HEAVY = {
    "aws_lambda_powertools.utilities.batch",
    DATA_CLASSES,
    "aws_xray_sdk",
    "babel",
    "boto3",
    "botocore",
    "jinja2",
    "lxml",
    "markupsafe",
    "numpy",
    "premailer",
    "pydantic",
    "pynamodb",
    "requests",
    "smtplib",
    "statsmodels",
    "tzdata",
}

_PROGRAM = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
print(json.dumps(sorted(name for name in sys.modules)))
"""


def imported_by(function: str) -> set[str]:
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
    return set(json.loads(result.stdout))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("ingest", {"botocore", "pydantic", "pynamodb"}),
        ("followers", {"botocore", "pynamodb"}),
        ("fanout", {"botocore", "pynamodb"}),
        ("generate", {"babel", "botocore", "jinja2", "markupsafe", "pynamodb"}),
        (
            "preferences",
            {
                "aws_lambda_powertools.utilities.data_classes",
                "babel",
                "botocore",
                "jinja2",
                "markupsafe",
                "pynamodb",
            },
        ),
    ],
)
def test_a_function_imports_what_it_needs_and_no_more(function: str, expected: set[str]) -> None:
    assert imported_by(function) & HEAVY == expected
