"""The envelope of EventBridge around a detail.

The import of Powertools' model would add a tenth to the cold start of `ingest`.
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
