"""The templates that a stage has now: from the layer with which its functions work."""

import io
import urllib.request
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import boto3

from cli.shared.aws_errors import refusals_in_words
from cli.shared.console import NotPossible
from cli.shared.deployed import layers

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

_FOLDER = "python/gazette_templates/"
"""Where the layer has them."""

_PATIENCE = 60
"""Seconds until a layer that does not come is given up."""


def fetch(link: str) -> bytes:
    """What a link of Lambda leads to. Raises OSError."""
    with urllib.request.urlopen(link, timeout=_PATIENCE) as answer:  # noqa: S310 -- Lambda made it
        return bytes(answer.read())


def write_deployed_templates(stage: str, folder: Path) -> Path:
    """The templates of a stage, below `folder`. Raises NotPossible.

    One GetLayerVersionByArn for each layer, the smallest first, until one has templates.
    """
    client: LambdaClient = boto3.client("lambda")
    for arn in layers(stage, "generate"):
        with refusals_in_words(arn, service="lambda"):
            found = client.get_layer_version_by_arn(Arn=arn)
        try:
            with zipfile.ZipFile(io.BytesIO(fetch(found["Content"]["Location"]))) as archive:
                names = [name for name in archive.namelist() if name.startswith(_FOLDER)]
                archive.extractall(folder, names)
        except (OSError, zipfile.BadZipFile) as err:
            raise NotPossible(f"The layer {arn} cannot be read ({err}): try again.") from err
        if names:
            return folder / _FOLDER
    raise NotPossible(
        f"No layer of gazette-{stage}-generate has templates: deploy the stage from this version."
    )
