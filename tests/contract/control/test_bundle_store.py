"""Where bundles are stored: our fake, and a bucket of S3 on moto."""

import boto3
import pytest
from gazette.adapters.aws.clients import forget
from gazette.adapters.templates.bundle import MAX_PACKED
from gazette.adapters.templates.s3 import S3Bundles, key_of
from gazette.domain.errors import Unavailable
from gazette.domain.templates.ports import BundleStore
from gazette.domain.templates.versions import Version

from tests.fake_templates import FakeBundles

SEVEN = Version(7, "7" * 64)


@pytest.fixture
def bundles(engine: str) -> BundleStore:
    if engine != "moto":
        return FakeBundles()
    forget()
    boto3.client("s3").create_bucket(Bucket="templates")
    return S3Bundles("templates")


def test_bundle_is_read_byte_for_byte_as_stored(bundles: BundleStore) -> None:
    content = bytes(range(256)) * 100
    bundles.put(SEVEN, content)
    bundles.put(SEVEN, content)
    assert bundles.get(SEVEN) == content


@pytest.mark.parametrize("size", [MAX_PACKED, MAX_PACKED + 1, 2 * MAX_PACKED])
def test_read_of_an_oversized_bundle_stops_after_the_limit(bundles: BundleStore, size: int) -> None:
    """Whoever may write to the bucket could else take the memory of every worker."""
    bundles.put(SEVEN, bytes(size))
    assert bundles.get(SEVEN) == bytes(min(size, MAX_PACKED + 1))
    bundles.put(SEVEN, b"whole")
    assert bundles.get(SEVEN) == b"whole", "the connection goes on"


@pytest.mark.parametrize("other", [Version(8, "7" * 64), Version(7, "8" * 64)])
def test_different_number_or_checksum_is_a_different_bundle(
    bundles: BundleStore, other: Version
) -> None:
    bundles.put(SEVEN, b"seven")
    assert bundles.get(other) is None


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_unreadable_bucket_is_not_reported_as_a_missing_bundle(engine: str) -> None:
    forget()
    with pytest.raises(Unavailable, match="version 7"):
        S3Bundles("no-such-bucket").get(SEVEN)


def test_bundle_keys_sort_by_number() -> None:
    assert key_of(SEVEN) == f"versions/000007-{'7' * 64}.json.gz"
