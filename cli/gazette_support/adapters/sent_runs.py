"""A scan of the `runs` table for runs whose email was sent, for use by the command line."""

from datetime import datetime
from typing import Any

from gazette.adapters.dynamodb.client import LONG_READ, bind, each_decoded, translated
from gazette.adapters.dynamodb.runs import run_of
from gazette.adapters.dynamodb.tables import RunRow
from gazette.adapters.dynamodb.values import instant_text
from gazette.domain.delivery.run import Status

from gazette_support.domain.replay import Part

_SENT_SINCE = (
    "#status = :sent AND (#sent_at >= :since "
    "OR (attribute_not_exists(#sent_at) AND #claimed_at >= :since) "
    "OR (attribute_not_exists(#sent_at) AND attribute_not_exists(#claimed_at) "
    "AND #due_at >= :since))"
)
_NAMES = {f"#{name}": name for name in ("status", "sent_at", "claimed_at", "due_at")}


class DynamoSentRuns:
    """Implementation of the `SentRuns` port backed by the `runs` table.

    A part is a segment of a parallel scan. DynamoDB assigns items to segments by a hash of the
    partition key, which is the user id.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html
    """

    def __init__(self, table_name: str) -> None:
        self._rows = bind(RunRow, table_name, LONG_READ)
        self._table_name = table_name

    def sent_since(self, since: datetime, *, part: int, parts: int) -> Part:
        """Read the runs that were sent at or after `since`, from one segment of the scan.

        Costs one Scan per megabyte of runs, whatever their status.
        """
        request: dict[str, Any] = {
            "TableName": self._table_name,
            "Segment": part,
            "TotalSegments": parts,
            "FilterExpression": _SENT_SINCE,
            "ExpressionAttributeNames": _NAMES,
            "ExpressionAttributeValues": {
                ":sent": {"S": Status.SENT.value},
                ":since": {"S": instant_text(since)},
            },
            "ReturnConsumedCapacity": "TOTAL",
        }
        rows: list[RunRow] = []
        units = 0.0
        connection: Any = self._rows._get_connection().connection
        while True:
            with translated():
                answer = connection.dispatch("Scan", request)
            rows += map(RunRow.from_raw_data, answer["Items"])
            units += answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0)
            if not (behind := answer.get("LastEvaluatedKey")):
                return Part(list(each_decoded(rows, run_of)), units)
            request["ExclusiveStartKey"] = behind
