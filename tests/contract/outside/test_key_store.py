"""What the port `KeyStore` promises, held against our fake and Secrets Manager on moto."""

from collections.abc import Callable, Iterator

import boto3
import pytest
from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.domain.errors import InvalidKeys, Unavailable
from gazette.domain.links import LinkKeys
from gazette.domain.ports.rendering import KeyStore
from moto import mock_aws

from tests.credentials import set_credentials
from tests.fakes import FakeKeyStore, FakeSecret

OLD = LinkKeys({"k1": b"1" * 32})
NEW = OLD.with_next("2" * 32)

Open = Callable[[], KeyStore]
"""Another who uses the same store."""


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A secret on moto that holds the old key."""
    set_credentials(monkeypatch)
    with mock_aws():
        made = boto3.client("secretsmanager").create_secret(
            Name="links", SecretString=OLD.to_json()
        )
        yield made["ARN"]


@pytest.fixture(params=["fake", "moto"])
def open_store(request: pytest.FixtureRequest) -> Open:
    if request.param == "fake":
        stored = FakeSecret(OLD)
        return lambda: FakeKeyStore(stored)
    arn: str = request.getfixturevalue("secret")
    return lambda: SecretKeyStore(arn)


def test_link_keys_are_read_as_stored(open_store: Open) -> None:
    store = open_store()
    assert store.read() == OLD
    assert store.replace(NEW)
    assert store.read() == open_store().read() == NEW


def test_second_of_two_concurrent_key_changes_is_rejected(
    open_store: Open,
) -> None:
    one, other = open_store(), open_store()
    assert one.read() == other.read()
    assert one.replace(NEW)
    assert not other.replace(OLD.with_next("3" * 32))
    assert open_store().read() == NEW
    assert other.read() == NEW
    assert other.replace(NEW.without("k1"))
    assert one.read() == NEW.without("k1")


@pytest.mark.parametrize("content", ["x" * 64, '{"k1": "short"}'])
def test_secret_without_keys_is_named_with_a_remedy(secret: str, content: str) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId=secret, SecretString=content)
    with pytest.raises(InvalidKeys) as refused:
        SecretKeyStore(secret).read()
    said = str(refused.value)
    assert secret in said
    assert "AWSPREVIOUS" in said
    assert content not in said


def test_binary_secret_contains_no_keys(secret: str) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId=secret, SecretBinary=b"\x00")
    with pytest.raises(InvalidKeys, match="it is not JSON"):
        SecretKeyStore(secret).read()


def test_key_store_without_a_response_is_unavailable(secret: str, answers: list[str]) -> None:
    store = SecretKeyStore(secret)
    answers.append("lost before")
    with pytest.raises(Unavailable):
        store.read()
    store.read()
    answers.append("lost after")
    with pytest.raises(Unavailable):
        store.replace(NEW)
    assert store.replace(NEW)
    assert store.read() == NEW
