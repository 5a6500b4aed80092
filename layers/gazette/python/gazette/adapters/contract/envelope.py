"""The EventBridge envelope of a detail.

Importing Powertools' model instead would lengthen the cold start of `ingest` by a tenth.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from gazette.adapters.contract.wording import REASONS, in_words, sentence
from gazette.domain.commands import CHANGED_CATEGORY, ChoosePreferences, Command
from gazette.domain.errors import InvalidEvent
from gazette.domain.identity import CATEGORY_NAME
from gazette.domain.sources import PREFERENCES
from gazette.domain.subscribers.frequency import DEFAULT, frequencies

_ROUTE, _REPORTED_BY = "route", "POST /v1/delivery-event"

OF_THE_API: Mapping[str, str] = MappingProxyType({_ROUTE: _REPORTED_BY})
"""The field that only messages of the API have. A publisher cannot add it to an event on the bus,
because EventBridge creates all fields except those inside `detail`.
https://docs.aws.amazon.com/eventbridge/latest/ref/events-structure.html
"""


class Envelope(BaseModel):
    """The envelope of an event, without its detail. Unknown fields are ignored.

    https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html
    """

    version: str
    id: str
    source: str
    account: str
    time: datetime
    region: str
    resources: list[str]
    detail_type: str = Field(alias="detail-type")
    replay_name: str | None = Field(None, alias="replay-name")


def is_from_the_api(envelope: Any) -> bool:
    """Return True if the API sent the message, whose caller IAM has authorized."""
    return isinstance(envelope, dict) and envelope.get(_ROUTE) == _REPORTED_BY


def check_envelope(envelope: Any) -> None:
    """Raise InvalidEvent if `envelope` is not the envelope of an EventBridge event."""
    try:
        Envelope.model_validate(envelope)
    except ValidationError as err:
        raise InvalidEvent(sentence("The envelope", in_words(err), reasons=REASONS)) from err


def narrowed(command: Command, envelope: dict[str, Any]) -> Command:
    """Return a choice from the preference page with only the categories that the reader changed.

    Until version 0.3.0, the page also sends all unchanged frequencies, for the previous version.
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
