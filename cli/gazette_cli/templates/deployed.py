"""The deployed templates and code of a stage, read from a layer of its functions."""

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

from gazette_cli.shared.aws_errors import refusals_in_words
from gazette_cli.shared.console import NotPossible
from gazette_cli.shared.deployed import layers
from gazette_cli.templates.differences import Files

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

_TEMPLATES, _CODE = "python/gazette_templates/", "python/gazette/"
"""The folders of the templates and of the code in the layer."""

_MODULE = ".py"
_PATIENCE = 60
"""The timeout of a download, in seconds."""


@dataclass(frozen=True, slots=True)
class DeployedLayer:
    """The layer that contains the code and the templates of a stage."""

    arn: str

    # The fingerprint of the code.
    release: str

    # The files that a bundle would contain, except version settings. The deployed templates use the
    # settings of the stage.
    templates: Files


def fetch(link: str) -> bytes:
    """Download a layer from the URL that Lambda returned. Raises OSError."""
    with urllib.request.urlopen(link, timeout=_PATIENCE) as answer:  # noqa: S310 -- Lambda returned the URL
        return bytes(answer.read())


def read_layer(stage: str) -> DeployedLayer:
    """Read the layer that contains the code and the templates of a stage. Raises NotPossible.

    Makes one GetLayerVersionByArn call per layer, starting with the smallest layer, until a layer
    has templates.
    """
    client: LambdaClient = boto3.client("lambda")
    for arn in layers(stage, "generate"):
        with refusals_in_words(arn, service="lambda"):
            layer = client.get_layer_version_by_arn(Arn=arn)
        try:
            with zipfile.ZipFile(io.BytesIO(fetch(layer["Content"]["Location"]))) as archive:
                templates = _of_a_version(_below(_TEMPLATES, archive))
                code = _below(_CODE, archive) if templates else {}
        except (OSError, zipfile.BadZipFile) as err:
            raise NotPossible(f"The layer {arn} is unreadable ({err}). Try again.") from err
        if templates:
            return DeployedLayer(arn, _fingerprint(code.items()), templates)
    raise NotPossible(
        f"No layer of gazette-{stage}-generate has templates. Deploy the stage from this version."
    )


@cache
def release_here() -> str:
    """Return the release of the code that runs this command."""
    root = Path(gazette.__path__[0])
    return _fingerprint(
        (str(file.relative_to(root)), file.read_bytes()) for file in root.rglob(f"*{_MODULE}")
    )


def schemas_of(templates: Files) -> Mapping[str, object]:
    """Return the parsed schemas of `data`, by category."""
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
    files = {}
    for name, content in templates.items():
        with suppress(BundleError):
            check_path(name)
            files[name] = content
    files.pop(SETTINGS_FILE, None)
    return files


def _fingerprint(code: Iterable[tuple[str, bytes]]) -> str:
    """Hash our modules. The names and contents of the modules identify the release."""
    digest = hashlib.sha256()
    for name, content in sorted(code):
        if name.endswith(_MODULE):
            digest.update(hashlib.sha256(name.encode()).digest())
            digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()
