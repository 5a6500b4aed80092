"""Decodes a message into a command, or into error messages that name each wrong field."""

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from gazette.adapters.contract.building import AnyDetail, command_for, event_of
from gazette.adapters.contract.data import Schemas, refuse
from gazette.adapters.contract.details import (
    ActivityCreated,
    EventCreated,
    EventRetracted,
    EventsCreated,
    HappeningDetail,
)
from gazette.adapters.contract.envelope import Envelope
from gazette.adapters.contract.strict_json import UnreadableError, read_json
from gazette.adapters.contract.subscribers import (
    FollowCreated,
    FollowDeleted,
    PreferencesChosen,
    SubscriberActive,
    SubscriberChanged,
    SubscriberDeleted,
)
from gazette.adapters.contract.wording import in_words, sentence
from gazette.domain.commands import (
    CHANGED_CATEGORY,
    ChoosePreferences,
    Command,
    CreateEvents,
)
from gazette.domain.errors import ForeignEvent, InvalidEvent
from gazette.domain.hosts import LinkHosts
from gazette.domain.identity import CATEGORY_NAME
from gazette.domain.model import Event
from gazette.domain.sources import PREFERENCES, Sources
from gazette.domain.subscribers.frequency import DEFAULT, frequencies

REASONS = 3
"""How many problems a reason names; it counts the others."""

MOST_PROBLEMS = 100
"""Of a list of events, so many are put into words; the others are counted."""

DETAIL_MODELS: dict[str, tuple[type[AnyDetail], ...]] = {
    "activity.created": (ActivityCreated,),
    "event.created": (EventCreated, EventsCreated),
    "event.retracted": (EventRetracted,),
    "follow.created": (FollowCreated,),
    "follow.deleted": (FollowDeleted,),
    "preferences.chosen": (PreferencesChosen,),
    "subscriber.active": (SubscriberActive,),
    "subscriber.changed": (SubscriberChanged,),
    "subscriber.deleted": (SubscriberDeleted,),
}
"""The models of each detail type; a detail must fit one of them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The command in a detail, and its problems as `detail.field: …`.

    `command` is None if the detail is invalid. Of a list of events, it has the valid ones. `more`:
    how many problems there are besides.
    """

    command: Command | None
    problems: tuple[str, ...] = ()
    more: int = 0


def decode(
    body: str,
    *,
    sources: Sources | None = None,
    hosts: LinkHosts | None = None,
    schemas: Schemas = MappingProxyType({}),
) -> Command:
    """The command in an EventBridge envelope, whose links lead to `hosts`, if those are given.

    The data of an event is as `schemas` has it for its category. Raises InvalidEvent, naming the
    field, and ForeignEvent for a detail type that the envelope's source may not put.
    """
    try:
        return _decode(read_json(body), sources, hosts, schemas)
    except UnreadableError as err:
        raise InvalidEvent(f"The message is {err}.") from err
    except RecursionError as err:
        raise InvalidEvent("The message is nested too deeply.") from err


def read_detail(
    detail_type: Any,
    detail: Any,
    *,
    hosts: LinkHosts | None = None,
    schemas: Schemas = MappingProxyType({}),
) -> Reading:
    """The command in `detail` (parsed JSON), and its problems, as in `decode`."""
    problem = _no_detail(detail_type, detail)
    if problem:
        return Reading(None, (problem,))
    if detail_type == "event.created" and "events" in detail:
        return _read_list(detail, hosts, schemas)
    return _read(DETAIL_MODELS[detail_type][0], detail, hosts, schemas)


def _decode(
    envelope: Any, sources: Sources | None, hosts: LinkHosts | None, schemas: Schemas
) -> Command:
    given = envelope if isinstance(envelope, dict) else {}
    detail_type, detail = given.get("detail-type"), given.get("detail")
    problem = _no_detail(detail_type, detail)
    if problem:
        raise InvalidEvent(f"{problem}.")
    _check_envelope(given)
    if sources and (refusal := sources.refusal(str(detail_type), given["source"])):
        raise ForeignEvent(refusal)
    reading = read_detail(detail_type, detail, hosts=hosts, schemas=schemas)
    if not reading.problems and reading.command:
        return _narrowed(reading.command, given)
    reason = sentence(str(detail_type), reading.problems, reasons=REASONS, besides=reading.more)
    if isinstance(reading.command, CreateEvents):
        return replace(reading.command, problems=f"{reason} {_taken(reading.command)}")
    raise InvalidEvent(reason)


def _narrowed(command: Command, envelope: dict[str, Any]) -> Command:
    """A choice of the preference page without what its detail says for the version before only."""
    changed = [
        name
        for each in envelope["resources"]
        if each.startswith(CHANGED_CATEGORY)
        and CATEGORY_NAME.fullmatch(name := each.removeprefix(CHANGED_CATEGORY))
    ]
    if not (changed and isinstance(command, ChoosePreferences)):
        return command
    if envelope["source"] != PREFERENCES or command.choice.frequencies is None:
        return command
    whole = dict(command.choice.frequencies)
    chosen = frequencies({name: whole.get(name, DEFAULT) for name in changed})
    return replace(command, choice=replace(command.choice, frequencies=chosen))


def _no_detail(detail_type: object, detail: object) -> str:
    known = ", ".join(sorted(DETAIL_MODELS))
    if not isinstance(detail_type, str):
        return f"detail-type: must be one of {known}"
    if detail_type not in DETAIL_MODELS:
        return f"detail-type: {repr(detail_type)[:60]} is not one of {known}"
    return "" if isinstance(detail, dict) else "detail: must be an object"


def _taken(command: CreateEvents) -> str:
    match len(command.events):
        case 1:
            return "The other event of the list was accepted."
        case number:
            return f"The other {number} events of the list were accepted."


def _check_envelope(envelope: dict[str, Any]) -> None:
    try:
        Envelope.model_validate(envelope)
    except ValidationError as err:
        raise InvalidEvent(sentence("The envelope", in_words(err), reasons=REASONS)) from err


def _read(
    model: type[AnyDetail], detail: Any, hosts: LinkHosts | None, schemas: Schemas
) -> Reading:
    try:
        given = model.model_validate(detail, context=hosts)
        if schemas and isinstance(given, HappeningDetail):
            _hold_against(schemas, given)
        return Reading(command_for(given))
    except ValidationError as err:
        return Reading(None, in_words(err, "detail"))


def _read_list(detail: dict[str, Any], hosts: LinkHosts | None, schemas: Schemas) -> Reading:
    """Read each event of a list by itself, if the detail is a list at all.

    What is wrong with one is forgotten before the next is read: a message may hold a hundred
    thousand that lack every field.
    """
    given = detail["events"]
    if not isinstance(given, list) or not given:
        return _read(EventsCreated, detail, hosts, schemas)
    if len(detail) > 1:
        return _read(EventsCreated, {**detail, "events": given[:1]}, hosts, schemas)
    events: list[Event] = []
    problems: list[str] = []
    more = 0
    for number, each in enumerate(given):
        found = _event(each, hosts, schemas)
        if isinstance(found, Event):
            events.append(found)
        elif len(problems) < MOST_PROBLEMS:
            problems += in_words(found, "detail", "events", str(number))
        else:
            more += found.error_count()
    return Reading(CreateEvents(tuple(events)) if events else None, tuple(problems), more)


def _event(given: Any, hosts: LinkHosts | None, schemas: Schemas) -> Event | ValidationError:
    try:
        detail = EventCreated.model_validate(given, context=hosts)
        if schemas:
            _hold_against(schemas, detail)
        return event_of(detail)
    except ValidationError as err:
        return err


def _hold_against(schemas: Schemas, given: HappeningDetail) -> None:
    """Raises ValidationError where the data is not as the schema of its category has it."""
    if schema := schemas.get(given.category):
        found = schema.problems(given.data or {})
        refuse(((("data", *place), said) for place, said in found), of="data")
