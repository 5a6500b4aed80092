"""The event contract at the edge: what services may put on the bus, as pydantic models."""

import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aws_lambda_powertools.utilities.parser.models import EventBridgeModel
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
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
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_ONE_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(
    rf"(?=[^@]{{1,64}}@){_ATOM}(?:\.{_ATOM})*@(?:{_LABEL}\.)+[A-Za-z][A-Za-z0-9-]*"
)
_ADDRESS_CHARACTERS = 254
_URL = re.compile(r"https?://[A-Za-z0-9\[][!#-;=?-~]*")
_ZONE = re.compile(r"[A-Z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
_YEARS = range(1990, 2200)


def _known_zone(name: str) -> str:
    """Not `localtime` or `Factory`, which mean something else on each machine."""
    if _ZONE.fullmatch(name) and name != "Factory":
        try:
            return ZoneInfo(name).key
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    raise ValueError("must be an IANA time zone, such as Europe/Berlin")


def _one_line(text: str) -> str:
    if _ONE_LINE.search(text):
        raise ValueError("must be one line without control characters")
    return text


def _lines(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if _CONTROL.search(text):
        raise ValueError("must not contain control characters")
    return text


def _address(text: str) -> str:
    if len(text) > _ADDRESS_CHARACTERS or not _ADDRESS.fullmatch(text):
        raise ValueError(
            "must be one email address in ASCII, such as reader@mail.example (domains in Punycode)"
        )
    return text


def _url(text: str) -> str:
    if not _URL.fullmatch(text):
        raise ValueError(
            "must be an absolute http or https URL, other characters percent-encoded (RFC 3986)"
        )
    return text


def _text_only(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("must be text in ISO 8601, such as 2026-11-21T09:30:00Z")  # noqa: TRY004
    return value


def _plausible(instant: datetime) -> datetime:
    if instant.year not in _YEARS:
        raise ValueError(f"must be a year from {_YEARS.start} to {_YEARS.stop - 1}")
    return instant.astimezone(UTC)


UserId = Annotated[str, StringConstraints(pattern=f"^{USER_ID.pattern}$")]
Key = Annotated[str, StringConstraints(min_length=1, max_length=128), AfterValidator(_one_line)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_one_line)]
Url = Annotated[str, StringConstraints(max_length=1000), AfterValidator(_url)]
Excerpt = Annotated[str, StringConstraints(max_length=500), AfterValidator(_lines)]
Instant = Annotated[AwareDatetime, BeforeValidator(_text_only), AfterValidator(_plausible)]


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
    occurred_at: Instant
    excerpt: Excerpt = ""


class DigestDetail(_Detail):
    """When the daily digest is wanted, on the subscriber's own clock."""

    hour: Annotated[int, Field(strict=True, ge=0, le=23)] = 8
    minute: Annotated[int, Field(strict=True, ge=0, le=59)] = 0


class SubscriberChangedDetail(_Detail):
    """`subscriber.changed`: the whole profile. The one with the latest `changed_at` wins."""

    user_id: UserId
    email: Annotated[str, AfterValidator(_address)]
    name: Line
    time_zone: Annotated[str, AfterValidator(_known_zone)]
    locale: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = "en"
    changed_at: Instant
    digest: DigestDetail = DigestDetail()


def decode(body: str) -> Command:
    """The command in an EventBridge envelope. Raises InvalidEvent, naming the field."""
    try:
        return _decode(body)
    except RecursionError as err:
        raise InvalidEvent("The message is nested too deeply.") from err


def _decode(body: str) -> Command:
    try:
        envelope = json.loads(body)
    except ValueError as err:
        raise InvalidEvent(f"The message is not JSON: {err}") from err
    detail_type = envelope.get("detail-type") if isinstance(envelope, dict) else None
    build = _DETAIL_TYPES.get(detail_type) if isinstance(detail_type, str) else None
    if build is None:
        known = ", ".join(sorted(_DETAIL_TYPES))
        raise InvalidEvent(f"detail-type: {_short(detail_type)} is not one of {known}.")
    if not isinstance(envelope.get("detail"), dict):
        raise InvalidEvent("detail: must be an object.")
    try:
        EventBridgeModel.model_validate(envelope)
    except ValidationError as err:
        raise InvalidEvent(_in_words(err, "The envelope", ())) from err
    try:
        return build(envelope["detail"])
    except ValidationError as err:
        raise InvalidEvent(_in_words(err, str(detail_type), ("detail",))) from err


def _event_created(detail: Any) -> Command:
    given = EventCreatedDetail.model_validate(detail)
    return CreateEvent(
        Event(
            user_id=given.user_id,
            id=given.id,
            category=given.category,
            entity=Entity(**given.entity.model_dump()),
            actor=Actor(**given.actor.model_dump()),
            occurred_at=given.occurred_at,
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
            changed_at=given.changed_at,
        ),
        digest_at=LocalHour(given.digest.hour, given.digest.minute, given.time_zone),
    )


_DETAIL_TYPES = {"event.created": _event_created, "subscriber.changed": _subscriber_changed}


def _in_words(err: ValidationError, what: str, path: tuple[str, ...]) -> str:
    """Which fields are wrong and how; never their values, which may be a person's data."""
    problems = [
        f"{'.'.join((*path, *map(str, problem['loc'])))}: {_plain(problem['msg'])}"
        for problem in err.errors(include_url=False, include_input=False)
    ]
    more = len(problems) - _REASONS
    listed = "; ".join(problems[:_REASONS]) + (f"; and {more} more" if more > 0 else "")
    return f"{what} does not fit its schema: {listed}."


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ")


def _short(value: object) -> str:
    return repr(value)[:60]
