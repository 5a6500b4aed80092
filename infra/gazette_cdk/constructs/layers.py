"""The layers that every function shares."""

from pathlib import Path

from aws_cdk import Annotations
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from gazette_cdk.assets.layers import HOST, LAMBDA, core_code, dependencies_code, interpreter_for
from gazette_cdk.assets.templates.missing_words import missing_words
from gazette_cdk.folders import GAZETTE, project
from gazette_cdk.stage import Stage


def build_layers(scope: Construct, stage: Stage) -> list[lambda_.ILayerVersion]:
    """Create the layers for Lambda or, with `host_layers`, for this machine."""
    target = HOST if stage.host_layers else LAMBDA
    overlay = project() / stage.templates if stage.templates else None
    if interpreter_for(target) is None:
        Annotations.of(scope).add_warning_v2(
            "gazette:no-pyc",
            f"This machine has no Python {target.python}, so the layers ship without .pyc files. "
            "Imports at a cold start take more than three times as long. Install it and "
            "synthesise again.",
        )
    if overlay:
        _warn_about_words(scope, overlay)
    return [
        lambda_.LayerVersion(
            scope,
            name,
            code=code(target, overlay),
            compatible_runtimes=[lambda_.Runtime.PYTHON_3_13],
            description=description,
        )
        for name, code, description in (
            ("Dependencies", dependencies_code, "Third-party packages of Gazette, pinned"),
            ("Core", core_code, "The package gazette and its built templates"),
        )
    ]


def _warn_about_words(scope: Construct, overlay: Path) -> None:
    """Warn of each category of the adopter without words in a language that others have."""
    for number, text in enumerate(missing_words(GAZETTE / "templates", overlay)):
        Annotations.of(scope).add_warning_v2(f"gazette:no-words-{number}", text)
