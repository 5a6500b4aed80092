"""The files of docs/events: the contract in both directions, generated from the models.

`gazette event schemas` writes the files. No function imports this module.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from gazette.adapters.aws.events_out import VERSION, detail_of
from gazette.adapters.contract.decoding import DETAIL_MODELS
from gazette.domain.delivery.run import Certainty
from gazette.domain.events_out.events import (
    By,
    EmailEvent,
    EventOut,
    EventType,
    PreferencesChanged,
    Setting,
    SubscriberEvent,
)
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import DigestTimes, slot_of
from gazette.domain.subscribers.choices import Preferences
from gazette.domain.subscribers.frequency import DEFAULT, Frequency
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from gazette_support.adapters import published_contract
from gazette_support.adapters.events_out_contract import MODELS
from gazette_support.adapters.published_contract import UntitledGenerator, json_text, plain

_STAGE = "prod"


class _Generator(UntitledGenerator):
    """A generator of schemas also without defaults, because a missing field has no value."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Omit the default."""
        return self.generate_inner(schema["schema"])


def documents() -> dict[str, str]:
    """Return the contents of the files in docs/events, by file name."""
    return {**published_contract.documents(), **_out(), "asyncapi.json": json_text(asyncapi())}


def write(folder: Path) -> list[Path]:
    """Write all documents into `folder`, and return their paths. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in documents().items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def _out() -> dict[str, str]:
    schemas = {f"{_name(type_)}.schema.json": json_text(schema_out(type_)) for type_ in EventType}
    events = {f"{_name(type_)}.event.json": json_text(event_out(type_)) for type_ in EventType}
    return {**schemas, **events}


def schema_out(type_: EventType) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the detail of an event out."""
    model, description = MODELS[type_]
    rules = model.model_json_schema(schema_generator=_Generator)
    named = {name: plain(each) for name, each in sorted(rules.pop("$defs", {}).items())}
    rules = {name: each for name, each in rules.items() if name not in {"title", "description"}}
    return {
        "$schema": _Generator.schema_dialect,
        "title": f"{type_} v{VERSION}",
        "description": description,
        **rules,
        **({"$defs": named} if named else {}),
    }


def event_out(type_: EventType) -> dict[str, Any]:
    """Return an example of an event out, as a rule passes it to its target."""
    return {
        "version": "0",
        "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
        "detail-type": type_.value,
        "source": f"gazette.{_STAGE}",
        "account": "111122223333",
        "time": "2026-11-21T09:00:02Z",
        "region": "eu-central-1",
        "resources": [],
        "detail": detail_of(_example(type_), with_address=False),
    }


def _example(type_: EventType) -> EventOut:
    """Return the event of the example."""
    if type_ is EventType.PREFERENCES_CHANGED:
        return _CHANGED
    if type_.startswith("subscriber."):
        by = By.GAZETTE if type_ is EventType.SUBSCRIBER_SUPPRESSED else By.READER
        return SubscriberEvent(
            type=type_, user_id="ann", revision=3, erased_at=None, at=_AT, by=by, address=""
        )
    return EmailEvent(
        type=type_,
        run=RunKey("ann", "daily", 17),
        slot=slot_of(_AT),
        at=_AT,
        categories=("comment", "like"),
        events=12 if type_ is EventType.EMAIL_SENT else None,
        certainty=Certainty.ACCEPTED if type_ is EventType.EMAIL_SENT else None,
        reason=_REASONS.get(type_, ""),
    )


_AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
_REASONS = {EventType.EMAIL_SKIPPED: "unsubscribed", EventType.EMAIL_FAILED: "refused_for_good"}
_CHANGED = PreferencesChanged(
    user_id="ann",
    revision=3,
    erased_at=None,
    at=_AT,
    by=By.READER,
    frequencies=(("article", Frequency.NEVER), ("like", DEFAULT)),
    settings=frozenset({Setting.CLOCK, Setting.PAUSED_UNTIL}),
    preferences=Preferences((), DigestTimes(7, 30, paused_until=date(2026, 12, 14)), "UTC"),
)


def asyncapi() -> dict[str, Any]:
    """Return the AsyncAPI 3.0 document of both directions.

    Schemas are references to files, because references inside a schema do not work if the schema
    is embedded. https://www.asyncapi.com/docs/reference/specification/v3.0.0
    """
    incoming = {name: f"{name}.schema.json" for name in DETAIL_MODELS}
    outgoing = {type_.value: f"{_name(type_)}.schema.json" for type_ in EventType}
    summaries = {name: published_contract.schema(name)["description"] for name in incoming}
    summaries |= {type_.value: MODELS[type_][1] for type_ in EventType}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Gazette events",
            "version": str(VERSION),
            "description": "The events that services publish for Gazette, and the events that "
            "Gazette publishes about readers and emails. Both are details of EventBridge events.",
        },
        "defaultContentType": "application/json",
        "channels": {
            "in": _channel("gazette", "The bus on which services publish events.", incoming),
            "out": _channel(
                "gazette-{stage}-out",
                "The bus on which Gazette publishes events.",
                outgoing,
                stage="The name of the stage, such as prod.",
            ),
        },
        "operations": {
            "receive": _operation("receive", "in", "Gazette processes events of services."),
            "send": _operation("send", "out", "Gazette publishes events about readers and emails."),
        },
        "components": {
            "messages": {
                name: {
                    "name": name,
                    "summary": summaries[name],
                    "payload": {"schema": {"$ref": f"./{file}"}},
                }
                for name, file in {**incoming, **outgoing}.items()
            }
        },
    }


def _channel(
    address: str, description: str, files: Mapping[str, str], **parameters: str
) -> dict[str, Any]:
    named = {name: {"description": each} for name, each in parameters.items()}
    return {
        "address": address,
        "description": description,
        "messages": {_key(name): {"$ref": f"#/components/messages/{name}"} for name in files},
        **({"parameters": named} if named else {}),
    }


def _operation(action: str, channel: str, summary: str) -> dict[str, Any]:
    return {"action": action, "channel": {"$ref": f"#/channels/{channel}"}, "summary": summary}


def _key(name: str) -> str:
    return name.replace(".", "_")


def _name(type_: EventType) -> str:
    return f"{type_}.v{VERSION}"
