"""The templates and the code that a stage has now: from the layer with which its functions work."""

import hashlib
import io
import json
import urllib.request
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import gazette
from gazette.adapters.contract.data import SCHEMA_FILES
from gazette.adapters.templates.bundle import SETTINGS_FILE, BundleError, check_path

from cli.shared.aws_errors import refusals_in_words
from cli.shared.console import NotPossible
from cli.shared.deployed import layers
from cli.templates.differences import Files

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

_TEMPLATES, _CODE = "python/gazette_templates/", "python/gazette/"
"""Where the layer has them."""

_MODULE = ".py"
_PATIENCE = 60
"""Seconds until a layer that does not come is given up."""


@dataclass(frozen=True, slots=True)
class DeployedLayer:
    """What the layer `arn` has. `release`: a fingerprint of the code. `templates`: by path.

    Of the templates it has what a bundle would have: neither the package that they are there, nor
    settings of a version, because what is deployed goes by those of the stage.
    """

    arn: str
    release: str
    templates: Files


def fetch(link: str) -> bytes:
    """What a link of Lambda leads to. Raises OSError."""
    with urllib.request.urlopen(link, timeout=_PATIENCE) as answer:  # noqa: S310 -- Lambda made it
        return bytes(answer.read())


def read_layer(stage: str) -> DeployedLayer:
    """The layer with our code and the templates of a stage. Raises NotPossible.

    One GetLayerVersionByArn for each layer, the smallest first, until one has templates.
    """
    client: LambdaClient = boto3.client("lambda")
    for arn in layers(stage, "generate"):
        with refusals_in_words(arn, service="lambda"):
            found = client.get_layer_version_by_arn(Arn=arn)
        try:
            with zipfile.ZipFile(io.BytesIO(fetch(found["Content"]["Location"]))) as archive:
                templates = _of_a_version(_below(_TEMPLATES, archive))
                code = _below(_CODE, archive) if templates else {}
        except (OSError, zipfile.BadZipFile) as err:
            raise NotPossible(f"The layer {arn} cannot be read ({err}): try again.") from err
        if templates:
            return DeployedLayer(arn, _fingerprint(code.items()), templates)
    raise NotPossible(
        f"No layer of gazette-{stage}-generate has templates: deploy the stage from this version."
    )


@cache
def release_here() -> str:
    """The release of the code that this command was started from."""
    root = Path(gazette.__path__[0])
    return _fingerprint(
        (str(file.relative_to(root)), file.read_bytes()) for file in root.rglob(f"*{_MODULE}")
    )


def schemas_of(templates: Files) -> Mapping[str, object]:
    """The schema of the data of each category that has one, as parsed JSON."""
    return {
        path.split("/")[1]: json.loads(content)
        for path, content in templates.items()
        if Path(path).match(SCHEMA_FILES)
    }


def _below(folder: str, archive: zipfile.ZipFile) -> dict[str, bytes]:
    return {
        name.removeprefix(folder): archive.read(name)
        for name in archive.namelist()
        if name.startswith(folder) and not name.endswith("/")
    }


def _of_a_version(templates: Files) -> Files:
    found = {}
    for name, content in templates.items():
        with suppress(BundleError):
            check_path(name)
            found[name] = content
    found.pop(SETTINGS_FILE, None)
    return found


def _fingerprint(code: Iterable[tuple[str, bytes]]) -> str:
    """Of the modules of our package, whose names and content are the release."""
    digest = hashlib.sha256()
    for name, content in sorted(code):
        if name.endswith(_MODULE):
            digest.update(hashlib.sha256(name.encode()).digest())
            digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()
