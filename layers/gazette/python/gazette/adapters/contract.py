"""The event contract at the edge: what services may put on the bus, as pydantic models."""

import json
import re
from datetime import UTC
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aws_lambda_powertools.utilities.parser.models import EventBridgeModel
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from gazette.domain.commands import ChangeSubscriber, Command, CreateEvent
from gazette.domain.errors import InvalidEvent
from gazette.domain.identity import USER_ID
from gazette.domain.model import Actor, Entity, Event, LocalHour, Subscriber

_REASONS = 3
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ONE_LINE = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")
_ADDRESS = re.compile(r"[^\s@<>\"(),:;\[\]\\]{1,64}@[A-Za-z0-9.-]{1,251}\.[A-Za-z]{2,63}")


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"{name!r} is not an IANA time zone; write it like Europe/Berlin"
        ) from None
    return name


def _one_line(text: str) -> str:
    if _ONE_LINE.search(text):
        raise ValueError("must be one line without control characters")
    return text


def _no_control(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("must not contain control characters")
    return text


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError("must be one email address, such as ann@example.com")
    return text


UserId = Annotated[str, StringConstraints(pattern=f"^{USER_ID.pattern}$")]
Key = Annotated[str, StringConstraints(min_length=1, max_length=128), AfterValidator(_one_line)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_one_line)]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s<>\"]+$", max_length=1000)]
Excerpt = Annotated[str, StringConstraints(max_length=500), AfterValidator(_no_control)]


class _Detail(BaseModel):
    """Unknown fields are refused: a misspelt optional field would be lost without a word."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EntityDetail(_Detail):
    """What the event is about."""

    type: Name
    id: Key
    title: Line
    url: Url


class ActorDetail(_Detail):
    """Who made it happen."""

    id: Key
    name: Line


class EventCreatedDetail(_Detail):
    """`event.created`: something happened that one subscriber may want to know."""

    id: Key
    user_id: UserId
    category: Name
    entity: EntityDetail
    actor: ActorDetail
    occurred_at: AwareDatetime
    excerpt: Excerpt = ""


class DigestDetail(_Detail):
    """When the daily digest is wanted, on the subscriber's own clock."""

    hour: Annotated[int, Field(ge=0, le=23)] = 8
    minute: Annotated[int, Field(ge=0, le=59)] = 0


class SubscriberChangedDetail(_Detail):
    """`subscriber.changed`: the whole profile. The one with the latest `changed_at` wins."""

    user_id: UserId
    email: Annotated[str, AfterValidator(_address)]
    name: Line
    time_zone: Annotated[str, AfterValidator(_known_zone)]
    locale: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = "en"
    changed_at: AwareDatetime
    digest: DigestDetail = DigestDetail()


def decode(body: str) -> Command:
    """The command in an EventBridge envelope. Raises InvalidEvent, naming the field."""
    try:
        envelope = json.loads(body)
    except ValueError as err:
        raise InvalidEvent(f"The message is not JSON: {err}") from err
    detail_type = envelope.get("detail-type") if isinstance(envelope, dict) else None
    build = _DETAIL_TYPES.get(detail_type) if isinstance(detail_type, str) else None
    if build is None:
        known = ", ".join(sorted(_DETAIL_TYPES))
        raise InvalidEvent(f"detail-type: {detail_type!r} is not one of {known}.")
    try:
        detail = EventBridgeModel.model_validate(envelope).detail
        return build(detail)
    except ValidationError as err:
        raise InvalidEvent(_in_words(err, str(detail_type))) from err


def _event_created(detail: Any) -> Command:
    given = EventCreatedDetail.model_validate(detail, strict=False)
    return CreateEvent(
        Event(
            user_id=given.user_id,
            id=given.id,
            category=given.category,
            entity=Entity(**given.entity.model_dump()),
            actor=Actor(**given.actor.model_dump()),
            occurred_at=given.occurred_at.astimezone(UTC),
            excerpt=given.excerpt,
        )
    )


def _subscriber_changed(detail: Any) -> Command:
    given = SubscriberChangedDetail.model_validate(detail)
    return ChangeSubscriber(
        subscriber=Subscriber(
            user_id=given.user_id,
            email=given.email,
            name=given.name,
            locale=given.locale,
            time_zone=given.time_zone,
            changed_at=given.changed_at.astimezone(UTC),
        ),
        digest_at=LocalHour(given.digest.hour, given.digest.minute, given.time_zone),
    )


_DETAIL_TYPES = {"event.created": _event_created, "subscriber.changed": _subscriber_changed}


def _in_words(err: ValidationError, detail_type: str) -> str:
    """Which fields are wrong and how; never their values, which may be a person's data."""
    problems = [
        f"{'.'.join(('detail', *map(str, problem['loc'])))}: {problem['msg']}"
        for problem in err.errors(include_url=False, include_input=False)
    ]
    more = len(problems) - _REASONS
    listed = "; ".join(problems[:_REASONS]) + (f"; and {more} more" if more > 0 else "")
    return f"{detail_type} does not fit its schema: {listed}."
