"""The published OpenAPI document."""

from typing import Any

import pytest
from gazette.adapters.api.problems import KINDS

from gazette_cdk.services import POLICIES, ROUTES
from gazette_support.adapters.published_api import document, text
from tests.api_document import DOCUMENT

OPERATIONS = [
    (method.upper(), path, operation)
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
]


def test_document_is_generated_from_the_routes() -> None:
    assert DOCUMENT.read_text() == text(), "run `make docs`"


def test_document_has_the_routes_of_the_stack() -> None:
    assert {(method, path) for method, path, _ in OPERATIONS} == {
        (route.method, route.path) for route in ROUTES
    }
    assert {route.policy for route in ROUTES} == POLICIES.keys()


def test_each_operation_has_an_id_and_a_signature() -> None:
    found = document()
    assert found["openapi"] == "3.1.0"
    assert found["security"] == [{"sigv4": []}]
    ids = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(set(ids)) == len(ROUTES)
    assert all("security" not in operation for _, _, operation in OPERATIONS)


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_ids_are_in_the_query(method: str, path: str, operation: Any) -> None:
    assert "{" not in path
    assert {each["in"] for each in operation.get("parameters", ())} <= {"query"}


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_errors_are_problem_documents(method: str, path: str, operation: Any) -> None:
    errors = {int(status) for status in operation["responses"] if int(status) >= 400}
    assert {404, 422, 500, 503} <= errors <= {kind.status for kind in KINDS}
    for status in errors:
        is_return = path == "/v1/subscriber/return"
        schema = "RefusedReturn" if status == 409 and is_return else "Problem"
        content = operation["responses"][str(status)]["content"]
        assert content == {
            "application/problem+json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}
        }


def test_each_schema_is_used() -> None:
    schemas = document()["components"]["schemas"]
    written = text()
    unused = [name for name in schemas if f'"#/components/schemas/{name}"' not in written]
    assert unused == []


def test_answers_require_all_fields() -> None:
    schemas = document()["components"]["schemas"]
    requests = {"ChoicesBody", "ChosenDigestDetail", "CustomDetail", "WeeklyDetail"}
    requests |= {"ReturnBody", "DeliveryEventBody", "MutedDetail"}
    for name, schema in schemas.items():
        if name not in requests and "properties" in schema:
            assert set(schema["required"]) == schema["properties"].keys(), name


def test_frequencies_are_a_map_of_a_named_enum() -> None:
    """From null or from patterns of names, generators make maps of anything."""
    body = document()["components"]["schemas"]["ChoicesBody"]["properties"]
    assert body["frequencies"]["additionalProperties"] == {
        "$ref": "#/components/schemas/ChosenFrequency"
    }
    assert "propertyNames" not in body["frequencies"]
