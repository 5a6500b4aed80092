"""The EventBridge envelope of a detail.

Importing Powertools' model instead would lengthen the cold start of `ingest` by a tenth.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, Field

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
