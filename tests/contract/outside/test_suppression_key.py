"""The key of the suppressions in Secrets Manager, on moto: it is read, or nobody goes on."""

from collections.abc import Iterator

import boto3
import pytest
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.domain.errors import InvalidKeys, Unavailable
from moto import mock_aws

from tests.builders import SUPPRESSION_KEY
from tests.credentials import set_credentials


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A secret on moto that holds the key."""
    set_credentials(monkeypatch)
    with mock_aws():
        made = boto3.client("secretsmanager").create_secret(
            Name="suppressions", SecretString=SUPPRESSION_KEY.decode()
        )
        yield made["ARN"]


def test_suppression_key_is_read_from_the_secret(secret: str) -> None:
    assert read_suppression_key(secret) == SUPPRESSION_KEY


@pytest.mark.parametrize("content", ["p4ssw0rd", "x" * 31, "\xe9" * 64, "x" * 64 + "\n"])
def test_invalid_suppression_key_is_rejected_and_never_shown(secret: str, content: str) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId=secret, SecretString=content)
    with pytest.raises(InvalidKeys) as refused:
        read_suppression_key(secret)
    assert secret in str(refused.value)
    assert content not in str(refused.value)


def test_binary_secret_is_not_a_suppression_key(secret: str) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId=secret, SecretBinary=b"x" * 64)
    with pytest.raises(InvalidKeys):
        read_suppression_key(secret)


def test_unreachable_secrets_manager_is_reported_as_unavailable(
    secret: str, answers: list[str]
) -> None:
    answers.append("lost before")
    with pytest.raises(Unavailable):
        read_suppression_key(secret)
    assert read_suppression_key(secret) == SUPPRESSION_KEY
    with pytest.raises(Unavailable):
        read_suppression_key(f"{secret}-of-another-stage")
