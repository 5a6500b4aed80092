"""The published contract: JSON Schemas and examples, generated from the models.

No function imports this module. `gazette event schemas` writes the files for docs/events
(published_events.py); `make docs` also writes the files in docs/content.
"""

import json
from typing import Any

from gazette.adapters.content.items import AnswerDetail, ItemDetail
from gazette.adapters.contract.decoding import DETAIL_MODELS, LIST_FORMS
from gazette.adapters.contract.details import EventRetracted
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

_SOURCE = "shop.comments"


class UntitledGenerator(GenerateJsonSchema):
    """A generator of JSON Schemas without titles derived from field names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        """Return False, because a title would only repeat the field's name."""
        return False


class _Generator(UntitledGenerator):
    """A generator of concise JSON Schemas, also without null."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Omit null, because optional fields may be missing but not null (`Given`)."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Omit the default None, which means that the field is missing."""
        generated = super().default_schema(schema)
        return {name: each for name, each in generated.items() if (name, each) != ("default", None)}


class _AnswerGenerator(_Generator):
    """A JSON Schema generator for responses, in which null means that a field is missing."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema that pydantic generates."""
        return GenerateJsonSchema.nullable_schema(self, schema)


def answer_documents() -> dict[str, str]:
    """Return the contents of the files in docs/content, by file name."""
    return {
        "answer.schema.json": json_text(answer_schema()),
        "answer.example.json": json_text(answer_example()),
    }


def answer_schema() -> dict[str, Any]:
    """Return the JSON Schema of a recommendation service's answer."""
    rules = AnswerDetail.model_json_schema(schema_generator=_AnswerGenerator)
    named = {name: plain(each) for name, each in sorted(rules.pop("$defs").items())}
    return {
        "$schema": _Generator.schema_dialect,
        **rules,
        "title": "recommendations",
        "description": _description(AnswerDetail),
        "$defs": named,
    }


def answer_example() -> dict[str, Any]:
    """Return an example response: one item with all fields, one with only the required fields."""
    whole = example(ItemDetail)
    required = {name for name, each in ItemDetail.model_fields.items() if each.is_required()}
    least = {name: each for name, each in whole.items() if name in required}
    another = {"id": "article-4712", "url": "https://example.com/articles/4712"}
    return {"items": [whole, {**least, **another, "title": "Swifts in November"}]}


def documents() -> dict[str, str]:
    """Return the contents of the files about events of services, by file name."""
    schemas = {f"{name}.schema.json": json_text(schema(name)) for name in DETAIL_MODELS}
    entries = {
        f"{name}.example.json": json_text(
            {"Source": _SOURCE, "DetailType": detail_type, "Detail": detail}
        )
        for name, (detail_type, detail) in examples().items()
    }
    return {**schemas, **entries}


def schema(detail_type: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the `detail` field for a detail type."""
    models = DETAIL_MODELS[detail_type]
    references, definitions = models_json_schema(
        [(model, "validation") for model in models], schema_generator=_Generator
    )
    named = {name: plain(each) for name, each in sorted(definitions["$defs"].items())}
    if len(models) == 1:
        (reference,) = references.values()
        rules = named.pop(reference["$ref"].removeprefix("#/$defs/"))
    else:
        rules = {
            "description": " Or: ".join(_description(model) for model in models),
            "oneOf": [references[model, "validation"] for model in models],
        }
    return {
        "$schema": _Generator.schema_dialect,
        "title": detail_type,
        "description": rules.pop("description"),
        **rules,
        **({"$defs": named} if named else {}),
    }


def examples() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return examples by name: one for each form of each detail type."""
    by_name = {
        detail_type: (detail_type, example(models[0]))
        for detail_type, models in DETAIL_MODELS.items()
    }
    for detail_type, form in LIST_FORMS.items():
        items = [example(DETAIL_MODELS[detail_type][0], number) for number in range(2)]
        by_name[f"{detail_type}.list"] = (detail_type, {form.field: items})
    retracted = example(EventRetracted)
    for name, left_out in (("event.retracted", "entity"), ("event.retracted.activity", "user_id")):
        detail = {field: each for field, each in retracted.items() if field != left_out}
        by_name[name] = ("event.retracted", detail)
    return by_name


def example(model: type[BaseModel], number: int = 0) -> dict[str, Any]:
    """Return an example of a model, built from the examples of all its fields."""
    return {
        name: field.examples[number % len(field.examples)]
        if field.examples
        else example(_model_in(field.annotation), number)
        for name, field in model.model_fields.items()
    }


def _model_in(annotation: Any) -> type[BaseModel]:
    """Return the model class in a field's type annotation, such as `EntityDetail | None`."""
    candidates = [annotation, *getattr(annotation, "__args__", ())]
    return next(
        each for each in candidates if isinstance(each, type) and issubclass(each, BaseModel)
    )


def _description(model: type[BaseModel]) -> str:
    return " ".join(str(model.__doc__).split())


def plain(definition: dict[str, Any]) -> dict[str, Any]:
    """Return a definition without its title, and with its description in one line."""
    rest = {name: each for name, each in definition.items() if name != "title"}
    if "description" in rest:
        rest["description"] = " ".join(rest["description"].split())
    return rest


def json_text(value: object) -> str:
    """Return a value as the text of a file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
