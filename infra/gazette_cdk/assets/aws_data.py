"""A reduction of botocore's data to the parts that the functions need.

Without the reduction, every cold start would parse all data.

A service's model describes the parameters of its operations. botocore uses the descriptions in the
model only for its own documentation. `endpoints.json` lists the regions of every AWS service.
"""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

SERVICES = frozenset({"cloudwatch", "dynamodb", "events", "s3", "secretsmanager", "sesv2", "sqs"})
"""The services that the functions call, with the names that botocore uses. The layer omits the
models of all other services, which make up half of botocore's files.
"""

_TEXTS = "documentation"


def shrink(data: Path) -> None:
    """Delete unused services and all documentation from botocore's `data` folder."""
    for service in data.iterdir():
        if service.is_dir() and service.name not in SERVICES:
            shutil.rmtree(service)
    prefixes = {_without_texts(model) for model in sorted(data.glob("*/*/service-2.json.gz"))}
    endpoints = data / "endpoints.json"
    known = json.loads(endpoints.read_bytes())
    for partition in known["partitions"]:
        services = partition["services"]
        partition["services"] = {name: services[name] for name in services if name in prefixes}
    _replace(endpoints, _json(known))


def _without_texts(model: Path) -> str:
    """Remove the documentation from a service model.

    Return the service's name in `endpoints.json`.
    """
    content = _silenced(json.loads(gzip.decompress(model.read_bytes())))
    for parameter in content.get("clientContextParams", {}).values():
        parameter["documentation"] = ""  # botocore reads these fields for every S3 request
    _replace(
        model, gzip.compress(_json(content), mtime=0)
    )  # mtime=0 keeps the bytes equal at each deployment
    prefix: str = content["metadata"]["endpointPrefix"]
    return prefix


def _silenced(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _silenced(each)
            for name, each in value.items()
            if name != _TEXTS or not isinstance(each, str)
        }
    return [_silenced(each) for each in value] if isinstance(value, list) else value


def _replace(path: Path, content: bytes) -> None:
    """Replace the file instead of writing to it. uv may have linked the file from its cache, so
    writing to it would change the file in every environment.
    https://docs.astral.sh/uv/reference/settings/#link-mode
    """
    path.unlink()
    path.write_bytes(content)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
