"""Decoding of a message into a command, or into error messages that name each invalid field."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast

from pydantic import ValidationError

from gazette.adapters.contract.building import AnyDetail, command_for, list_command_for
from gazette.adapters.contract.data import Schemas, refuse
from gazette.adapters.contract.deliveries import DeliveryReported
from gazette.adapters.contract.details import (
    ActivityCreated,
    Detail,
    EventCreated,
    EventRetracted,
    EventsCreated,
    HappeningDetail,
)
from gazette.adapters.contract.envelope import check_envelope, is_from_the_api, narrowed
from gazette.adapters.contract.strict_json import UnreadableError, read_json
from gazette.adapters.contract.subscribers import (
    MOST_IN_A_LIST,
    EntitiesSeen,
    EntitySeen,
    FollowCreated,
    FollowDeleted,
    FollowsCreated,
    PreferencesChosen,
    SubscriberActive,
    SubscriberChanged,
    SubscriberDeleted,
    SubscribersChanged,
)
from gazette.adapters.contract.wording import REASONS, accepted, in_words, sentence
from gazette.domain.commands import Command, CommandList, CreateEvents
from gazette.domain.errors import ForeignEvent, InvalidEvent
from gazette.domain.feedback.reports import DeliveryReport
from gazette.domain.hosts import LinkHosts
from gazette.domain.sources import DELIVERY_REPORTED, Sources

MOST_PROBLEMS = 100
"""The maximum number of problems to describe for a list. Further problems are only counted."""

DETAIL_MODELS: dict[str, tuple[type[Detail], ...]] = {
    "activity.created": (ActivityCreated,),
    "delivery.reported": (DeliveryReported,),
    "entity.seen": (EntitySeen, EntitiesSeen),
    "event.created": (EventCreated, EventsCreated),
    "event.retracted": (EventRetracted,),
    "follow.created": (FollowCreated, FollowsCreated),
    "follow.deleted": (FollowDeleted,),
    "preferences.chosen": (PreferencesChosen,),
    "subscriber.active": (SubscriberActive,),
    "subscriber.changed": (SubscriberChanged, SubscribersChanged),
    "subscriber.deleted": (SubscriberDeleted,),
}
"""The models of each detail type. A detail must match one of them."""


@dataclass(frozen=True, slots=True)
class ListForm:
    """The form of a detail that contains only a list of details."""

    field: str
    """The name of the list, such as `events`."""

    most: int | None = None
    """The maximum number of items. None: only the size of an entry limits the list."""


LIST_FORMS: Mapping[str, ListForm] = MappingProxyType(
    {
        "entity.seen": ListForm("seen", MOST_IN_A_LIST),
        "event.created": ListForm("events"),
        "follow.created": ListForm("follows", MOST_IN_A_LIST),
        "subscriber.changed": ListForm("subscribers", MOST_IN_A_LIST),
    }
)
"""The form of each detail type whose entries may contain a list."""

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
    only the valid items.
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
    form = LIST_FORMS.get(detail_type)
    if form and form.field in detail:
        return _read_list(detail_type, form, detail, hosts, schemas)
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
        return narrowed(command, fields)
    reason = sentence(detail_type, reading.problems, reasons=REASONS, besides=reading.more)
    if isinstance(command, CreateEvents):
        return replace(command, problems=f"{reason} {accepted(len(command.events), 'events')}")
    if isinstance(command, CommandList):
        count = accepted(len(command.commands), LIST_FORMS[detail_type].field)
        return replace(command, problems=f"{reason} {count}")
    raise InvalidEvent(reason)


def _no_detail(detail_type: object, detail: object) -> str:
    if isinstance(detail_type, str) and detail_type in DETAIL_MODELS:
        return "" if isinstance(detail, dict) else "detail: must be an object"
    known = ", ".join(sorted(DETAIL_MODELS))
    if not isinstance(detail_type, str):
        return f"detail-type: must be one of {known}"
    return f"detail-type: {repr(detail_type)[:60]} is not one of {known}"


def _read(model: type[Detail], detail: Any, hosts: LinkHosts | None, schemas: Schemas) -> Reading:
    valid = _validated(model, detail, hosts, schemas)
    if isinstance(valid, ValidationError):
        return Reading(None, in_words(valid, "detail"))
    return Reading(command_for(valid))


def _read_list(
    detail_type: str,
    form: ListForm,
    detail: dict[str, Any],
    hosts: LinkHosts | None,
    schemas: Schemas,
) -> Reading:
    """Read the items of a list one by one, or read the whole detail if it is not a list.

    The error objects of an item are released before the next item is read, because a message may
    contain a hundred thousand invalid items.
    """
    single, whole = DETAIL_MODELS[detail_type]
    entries = detail[form.field]
    if not isinstance(entries, list) or not entries:
        return _read(whole, detail, hosts, schemas)
    if len(detail) > 1:
        return _read(whole, {**detail, form.field: entries[:1]}, hosts, schemas)
    if form.most and len(entries) > form.most:
        problem = f"must have at most {form.most} items, but has {len(entries):,}"
        return Reading(None, (f"detail.{form.field}: {problem}",))
    details: list[AnyDetail] = []
    problems: list[str] = []
    more = 0
    for number, each in enumerate(entries):
        valid = _validated(single, each, hosts, schemas)
        if not isinstance(valid, ValidationError):
            details.append(valid)
        elif len(problems) < MOST_PROBLEMS:
            problems += in_words(valid, "detail", form.field, str(number))
        else:
            more += valid.error_count()
    return Reading(list_command_for(details) if details else None, tuple(problems), more)


def _validated(
    model: type[Detail], detail: Any, hosts: LinkHosts | None, schemas: Schemas
) -> AnyDetail | ValidationError:
    try:
        valid = model.model_validate(detail, context=hosts)
        if schemas and isinstance(valid, HappeningDetail):
            _check_data(schemas, valid)
    except ValidationError as err:
        return err
    return cast("AnyDetail", valid)


def _check_data(schemas: Schemas, detail: HappeningDetail) -> None:
    """Raise ValidationError if the data does not match the schema of its category."""
    if schema := schemas.get(detail.category):
        problems = schema.problems(detail.data or {})
        refuse(((("data", *place), why) for place, why in problems), of="data")
