"""The AWS credentials of tests: they open nothing, but boto3 signs no request without some."""

import pytest

_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
}


def set_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set them, and the region, in the environment."""
    for name, value in _CREDENTIALS.items():
        monkeypatch.setenv(name, value)
