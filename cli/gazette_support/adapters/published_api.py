"""The OpenAPI document of the API for services, generated from its routes.

`make docs` writes docs/api/openapi.json. No function imports this module.
"""

import json
from typing import Any, cast

from gazette.adapters.api.reads import Reads, add_reads
from gazette.adapters.api.resolver import new_resolver
from gazette.adapters.api.writes import Writes, add_writes

from gazette_support.adapters.published_contract import json_text

_UNUSED = {"HTTPValidationError", "ValidationError", "ResponseValidationError"}
"""The schemas of the errors of Powertools, which no answer has."""

_SIGNED = {
    "type": "apiKey",
    "name": "Authorization",
    "in": "header",
    "description": "AWS Signature Version 4 for the service `execute-api`.",
    "x-amazon-apigateway-authtype": "awsSigv4",
}
_SERVER = {
    "url": "https://{api}.execute-api.{region}.amazonaws.com",
    "description": "The output ServicesUrl of the service stack.",
    "variables": {"api": {"default": "api"}, "region": {"default": "eu-central-1"}},
}


def document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document. https://spec.openapis.org/oas/v3.1.0"""
    nothing = cast("Any", None)  # the functions are called only for requests
    app = new_resolver(nothing)
    add_reads(app, Reads(**dict.fromkeys(Reads.__dataclass_fields__, nothing)))
    add_writes(app, Writes(**dict.fromkeys(Writes.__dataclass_fields__, nothing)))
    generated: dict[str, Any] = json.loads(
        app.get_openapi_json_schema(
            title="Gazette for services",
            version="1",
            description="Read and change what is in force for subscribers, and find out what "
            "became of events.",
        )
    )
    components = generated["components"]
    schemas = {name: each for name, each in components["schemas"].items() if name not in _UNUSED}
    plain: dict[str, Any] = _plain(
        generated
        | {
            "servers": [_SERVER],
            "security": [{"sigv4": []}],
            "components": {"securitySchemes": {"sigv4": _SIGNED}, "schemas": schemas},
        }
    )
    return plain


def text() -> str:
    """Return the content of docs/api/openapi.json."""
    return json_text(document())


def _plain(node: Any) -> Any:
    """Return the document without the titles that pydantic derives from the names of fields, and
    with each description on one line per paragraph.
    """
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {name: _plain(each) for name, each in node.items()}
    if isinstance(node.get("title"), str) and {"type", "anyOf", "$ref", "enum"} & node.keys():
        del plain["title"]
    if isinstance(description := node.get("description"), str):
        paragraphs = description.split("\n\n")
        plain["description"] = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    return plain
