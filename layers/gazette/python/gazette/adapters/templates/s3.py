"""Bundles in S3, one object per version, named by number and checksum."""

from contextlib import closing
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from gazette.adapters.aws.clients import Patience, client
from gazette.adapters.templates.bundle import MAX_PACKED
from gazette.domain.errors import Unavailable
from gazette.domain.templates.versions import Version

PREFIX = "versions/"
"""The prefix of the keys that functions may read. Functions cannot read objects with different
prefixes."""

PATIENCE = Patience(connect=1, read=5, attempts=2)


def key_of(version: Version) -> str:
    """Return the key of a version's bundle. Numbers are padded, so that keys sort by number."""
    return f"{PREFIX}{version.number:06d}-{version.checksum}.json.gz"


class S3Bundles:
    """Implementation of the `BundleStore` port backed by a bucket.

    The client is created at the first use, because stages that never push a version do not need the
    S3 model.
    """

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    def get(self, version: Version) -> bytes | None:
        """Read a bundle with one GetObject.

        S3 reports a missing object only to callers that may list the bucket. Other callers get an
        access-denied error, which does not show whether the object exists.
        https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
        """
        try:
            answer = _s3().get_object(Bucket=self._bucket, Key=key_of(version))
            with closing(answer["Body"]) as body:
                content: bytes = body.read(MAX_PACKED + 1)
        except ClientError as err:
            if err.response.get("Error", {}).get("Code") == "NoSuchKey":
                return None
            raise _unavailable(version, err) from err
        # An incomplete response raises errors of botocore and urllib3, and OSErrors.
        except (BotoCoreError, OSError) as err:
            raise _unavailable(version, err) from err
        return content

    def put(self, version: Version, content: bytes) -> None:
        """Store a bundle with one PutObject."""
        try:
            _s3().put_object(
                Bucket=self._bucket,
                Key=key_of(version),
                Body=content,
                ContentType="application/json",
                ContentEncoding="gzip",
            )
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(
                f"The bundle of version {version.number} could not be stored: {err}"
            ) from err


def _s3() -> Any:
    """Return the S3 client.

    S3's type stubs are not installed, because only two calls would need them.
    """
    return client("s3", PATIENCE)


def _unavailable(version: Version, err: Exception) -> Unavailable:
    return Unavailable(f"The bundle of version {version.number} cannot be read: {err}")
