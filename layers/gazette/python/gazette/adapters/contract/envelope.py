"""The EventBridge envelope of a detail.

Importing Powertools' model instead would lengthen the cold start of `ingest` by a tenth.
"""

from datetime import datetime

from pydantic import BaseModel, Field


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
