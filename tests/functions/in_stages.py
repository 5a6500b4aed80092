"""Stages other than that of most tests of functions, and the providers that their emails go to."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from gazette.bootstrap.parts import smtp
from gazette.domain.delivery.signals import Accepted, RefusedForNow, SendOutcome
from gazette.domain.model import Mail

LOGIN = "login"
"""The name of the secret with the login of the SMTP server."""

STAGES: Mapping[str, Mapping[str, str]] = {
    "everything": {},
    "cdk.json": {"GAZETTE_TRACK_CLICKS": "0"},
    "smtp": {
        "GAZETTE_TRACK_CLICKS": "0",
        "GAZETTE_MAIL_PROVIDER": "smtp",
        "GAZETTE_UNKNOWN_POLICY": "carry_over",
        "GAZETTE_SMTP_HOST": "smtp.example.com",
        "GAZETTE_SMTP_SECRET": LOGIN,
        "GAZETTE_SOURCES": '{"delivery.reported": ["shop.mailgun"]}',
    },
}
"""Settings that decide what functions ask of AWS, where they differ: see proofs/enforce."""


_THROTTLED: Any = {
    "Error": {"Code": "TooManyRequestsException"},
    "ResponseMetadata": {"HTTPStatusCode": 429},
}


class Provider(Protocol):
    """Who sends the emails. `name`: as in `mail_provider`."""

    name: str

    def refuse_the_next(self) -> None:
        """Refuse an email for now."""


@dataclass
class Ses:
    """SES on moto."""

    name: str = "ses"
    refuses: bool = False

    def refuse_the_next(self) -> None:
        self.refuses = True

    @contextmanager
    def answering(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Every client of SES asks it inside the block."""
        real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

        def answered(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
            if operation == "SendEmail" and self.refuses:
                self.refuses = False
                raise ClientError(_THROTTLED, operation)
            return real(client, operation, request)

        with monkeypatch.context() as patch:
            patch.setattr(BaseClient, "_make_api_call", answered)
            yield


@dataclass
class Smtp:
    """An SMTP server that keeps the emails of both streams."""

    letters: list[Mail] = field(default_factory=list)
    name: str = "smtp"
    refuses: bool = False

    def refuse_the_next(self) -> None:
        self.refuses = True

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """The port `Mailer`."""
        if self.refuses:
            self.refuses = False
            return RefusedForNow(attempt, "451")
        self.letters.append(mail)
        return Accepted(attempt, f"letter{len(self.letters)}")

    @contextmanager
    def answering(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Every mailer that is built inside the block hands its emails over to it."""
        with monkeypatch.context() as patch:
            patch.setattr(smtp, "SmtpMailer", lambda *_, **__: self)
            yield
