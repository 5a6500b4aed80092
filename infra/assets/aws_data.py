"""botocore's data, as far as the functions read it: a function that starts parses all of it.

Each service's model says what its operations take; botocore reads the texts in it for its own
documentation only. `endpoints.json` lists the regions of every service that AWS has.
"""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

SERVICES = frozenset({"cloudwatch", "dynamodb", "events", "s3", "secretsmanager", "sesv2", "sqs"})
"""The services that the functions call, by botocore's names. The layer leaves out the models of all
others, which are half of botocore's files."""

_TEXTS = "documentation"


def shrink(data: Path) -> None:
    """Leave out, from botocore's folder `data`, other services and all texts."""
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
    """Rewrite a model, and return the name of its service in `endpoints.json`."""
    said = _silenced(json.loads(gzip.decompress(model.read_bytes())))
    for parameter in said.get("clientContextParams", {}).values():
        parameter["documentation"] = ""  # botocore reads these of S3 for every request
    _replace(model, gzip.compress(_json(said), mtime=0))  # the same bytes at each deployment
    prefix: str = said["metadata"]["endpointPrefix"]
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
    """Write another file of that name. uv links what it installs with its cache, so that a change
    of the file itself would be one of every environment that has it.
    https://docs.astral.sh/uv/reference/settings/#link-mode
    """
    path.unlink()
    path.write_bytes(content)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
