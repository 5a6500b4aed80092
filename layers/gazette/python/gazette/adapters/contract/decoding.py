"""Decoding of a message into a command, or into error messages that name each invalid field."""

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from gazette.adapters.contract.building import AnyDetail, command_for, event_of
from gazette.adapters.contract.data import Schemas, refuse
from gazette.adapters.contract.deliveries import DeliveryReported
from gazette.adapters.contract.details import (
    ActivityCreated,
    EventCreated,
    EventRetracted,
    EventsCreated,
    HappeningDetail,
)
from gazette.adapters.contract.envelope import Envelope, is_from_the_api
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
from gazette.domain.feedback.reports import DeliveryReport
from gazette.domain.hosts import LinkHosts
from gazette.domain.identity import CATEGORY_NAME
from gazette.domain.model import Event
from gazette.domain.sources import DELIVERY_REPORTED, PREFERENCES, Sources
from gazette.domain.subscribers.frequency import DEFAULT, frequencies

REASONS = 3
"""The maximum number of problems that one error message describes. Further problems are only
counted."""

MOST_PROBLEMS = 100
"""The maximum number of problems to describe for a list of events. Further problems are only
counted."""

DETAIL_MODELS: dict[str, tuple[type[AnyDetail], ...]] = {
    "activity.created": (ActivityCreated,),
    "delivery.reported": (DeliveryReported,),
    "event.created": (EventCreated, EventsCreated),
    "event.retracted": (EventRetracted,),
    "follow.created": (FollowCreated,),
    "follow.deleted": (FollowDeleted,),
    "preferences.chosen": (PreferencesChosen,),
    "subscriber.active": (SubscriberActive,),
    "subscriber.changed": (SubscriberChanged,),
    "subscriber.deleted": (SubscriberDeleted,),
}
"""The models of each detail type. A detail must match one of them."""


_ANY_SOURCE = Sources({})
_TO_FEEDBACK = (
    f"A {DELIVERY_REPORTED} event belongs in the feedback queue. To send it there, run `gazette "
    "quarantine redrive`."
)


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a detail: a command, and problems in the form `detail.field: …`."""

    command: Command | DeliveryReport | None
    """The command or report, or None if the detail is invalid. For a list, the command contains
    only the valid events.
    """

    problems: tuple[str, ...] = ()
    more: int = 0
    """The number of problems that are not listed in `problems`."""


def decode(
    body: str,
    *,
    sources: Sources | None = None,
    hosts: LinkHosts | None = None,
    schemas: Schemas = MappingProxyType({}),
) -> Command:
    """Convert an EventBridge envelope to a domain command.

    Links must point to one of `hosts`, if any are given. The data of an event must match the schema
    of its category. Raises InvalidEvent, which names the invalid field. Raises ForeignEvent if the
    envelope's source is not allowed to publish the detail type, and for delivery events, which the
    feedback function processes.
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
    """Read `detail`, which is parsed JSON. Return the command and any problems.

    `hosts` and `schemas` have the same meaning as in `decode`.
    """
    problem = _no_detail(detail_type, detail)
    return Reading(None, (problem,)) if problem else _detail(detail_type, detail, hosts, schemas)


def _detail(
    detail_type: str, detail: dict[str, Any], hosts: LinkHosts | None, schemas: Schemas
) -> Reading:
    if detail_type == "event.created" and "events" in detail:
        return _read_list(detail, hosts, schemas)
    return _read(DETAIL_MODELS[detail_type][0], detail, hosts, schemas)


def _decode(
    envelope: Any, sources: Sources | None, hosts: LinkHosts | None, schemas: Schemas
) -> Command:
    fields: Any = envelope if isinstance(envelope, dict) else {}
    detail_type, detail = fields.get("detail-type"), fields.get("detail")
    if problem := _no_detail(detail_type, detail):
        raise InvalidEvent(f"{problem}.")
    if detail_type == DELIVERY_REPORTED and is_from_the_api(fields):
        raise ForeignEvent(_TO_FEEDBACK)
    check_envelope(fields)
    if refusal := (sources or _ANY_SOURCE).refusal(detail_type, fields["source"]):
        raise ForeignEvent(refusal)
    if detail_type == DELIVERY_REPORTED:
        raise ForeignEvent(_TO_FEEDBACK)
    reading = _detail(detail_type, detail, hosts, schemas)
    command = reading.command
    if not reading.problems and command and not isinstance(command, DeliveryReport):
        return _narrowed(command, fields)
    reason = sentence(detail_type, reading.problems, reasons=REASONS, besides=reading.more)
    if isinstance(command, CreateEvents):
        return replace(command, problems=f"{reason} {_accepted_count(command)}")
    raise InvalidEvent(reason)


def _narrowed(command: Command, envelope: dict[str, Any]) -> Command:
    """Return a choice from the preference page with only the categories that the reader changed.

    Until version 0.2.0, the page also sends all unchanged frequencies, for the previous version.
    """
    if not isinstance(command, ChoosePreferences) or envelope["source"] != PREFERENCES:
        return command
    changed = [
        name
        for each in envelope["resources"]
        if each.startswith(CHANGED_CATEGORY)
        and CATEGORY_NAME.fullmatch(name := each.removeprefix(CHANGED_CATEGORY))
    ]
    if not changed or command.choice.frequencies is None:
        return command
    whole = dict(command.choice.frequencies)
    chosen = frequencies({name: whole.get(name, DEFAULT) for name in changed})
    return replace(command, choice=replace(command.choice, frequencies=chosen))


def _no_detail(detail_type: object, detail: object) -> str:
    if isinstance(detail_type, str) and detail_type in DETAIL_MODELS:
        return "" if isinstance(detail, dict) else "detail: must be an object"
    known = ", ".join(sorted(DETAIL_MODELS))
    if not isinstance(detail_type, str):
        return f"detail-type: must be one of {known}"
    return f"detail-type: {repr(detail_type)[:60]} is not one of {known}"


def _accepted_count(command: CreateEvents) -> str:
    match len(command.events):
        case 1:
            return "The other event of the list was accepted."
        case number:
            return f"The other {number} events of the list were accepted."


def check_envelope(envelope: Any) -> None:
    """Raise InvalidEvent if `envelope` is not the envelope of an EventBridge event."""
    try:
        Envelope.model_validate(envelope)
    except ValidationError as err:
        raise InvalidEvent(sentence("The envelope", in_words(err), reasons=REASONS)) from err


def _read(
    model: type[AnyDetail], detail: Any, hosts: LinkHosts | None, schemas: Schemas
) -> Reading:
    try:
        valid = model.model_validate(detail, context=hosts)
        if schemas and isinstance(valid, HappeningDetail):
            _check_data(schemas, valid)
        return Reading(command_for(valid))
    except ValidationError as err:
        return Reading(None, in_words(err, "detail"))


def _read_list(detail: dict[str, Any], hosts: LinkHosts | None, schemas: Schemas) -> Reading:
    """Read the events of a list one by one, or read the whole detail if it is not a list.

    The error objects of an event are released before the next event is read, because a message may
    contain a hundred thousand invalid events.
    """
    entries = detail["events"]
    if not isinstance(entries, list) or not entries:
        return _read(EventsCreated, detail, hosts, schemas)
    if len(detail) > 1:
        return _read(EventsCreated, {**detail, "events": entries[:1]}, hosts, schemas)
    events: list[Event] = []
    problems: list[str] = []
    more = 0
    for number, each in enumerate(entries):
        event = _event(each, hosts, schemas)
        if isinstance(event, Event):
            events.append(event)
        elif len(problems) < MOST_PROBLEMS:
            problems += in_words(event, "detail", "events", str(number))
        else:
            more += event.error_count()
    return Reading(CreateEvents(tuple(events)) if events else None, tuple(problems), more)


def _event(entry: Any, hosts: LinkHosts | None, schemas: Schemas) -> Event | ValidationError:
    try:
        detail = EventCreated.model_validate(entry, context=hosts)
        if schemas:
            _check_data(schemas, detail)
        return event_of(detail)
    except ValidationError as err:
        return err


def _check_data(schemas: Schemas, detail: HappeningDetail) -> None:
    """Raise ValidationError if the data does not match the schema of its category."""
    if schema := schemas.get(detail.category):
        problems = schema.problems(detail.data or {})
        refuse(((("data", *place), why) for place, why in problems), of="data")
