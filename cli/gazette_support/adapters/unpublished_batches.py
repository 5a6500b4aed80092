"""The bucket into which Lambda puts the batches of a stream that it gives up."""

import json
from collections.abc import Iterator
from typing import Any

from gazette_support.domain.unpublished import UnreadableBatch


class S3UnpublishedBatches:
    """Implementation of the `UnpublishedBatches` port backed by S3.

    Each object is the record of a failed invocation, with the whole event in `payload`.
    https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
    """

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def names(self) -> Iterator[str]:
        """List the objects, with one ListObjectsV2 per thousand."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket)
        objects = [each for page in pages for each in page.get("Contents", ())]
        for each in sorted(objects, key=lambda each: each["LastModified"]):
            yield each["Key"]

    def records(self, name: str) -> list[dict[str, Any]]:
        """Read a batch with one GetObject."""
        content = self._client.get_object(Bucket=self._bucket, Key=name)["Body"].read()
        try:
            payload = json.loads(content)["payload"]
            event = json.loads(payload) if isinstance(payload, str) else payload
            records: list[dict[str, Any]] = event["Records"]
        except (ValueError, TypeError, KeyError) as err:
            raise UnreadableBatch(f"it is not a failed invocation ({type(err).__name__})") from err
        return records

    def delete(self, name: str) -> None:
        """Delete a batch with one DeleteObject."""
        self._client.delete_object(Bucket=self._bucket, Key=name)
