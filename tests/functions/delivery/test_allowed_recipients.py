"""A stage with a list of recipients sends to nobody else, by SES and by a real SMTP server."""

from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy

import pytest
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.mail.allowed import NOT_ALLOWED
from gazette.bootstrap.parts.sending import mailers
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.delivery.signals import RefusedForGood
from gazette.domain.model import DAILY, RunKey
from gazette.settings.delivery import GenerateSettings

from tests.builders import a_mail
from tests.functions.conftest import Cloud, Context, fan_out
from tests.functions.messages import event, profile
from tests.scripted_smtp import ScriptedSmtp

pytestmark = [pytest.mark.enable_socket, pytest.mark.usefixtures("later")]

IN, OUT = "ann@shop.example", "bo@sub.shop.example"


@dataclass
class Sent:
    """The recipients of all emails, and the SMTP server, if there is one."""

    cloud: Cloud
    server: ScriptedSmtp | None = None

    def recipients(self) -> list[str]:
        if self.server is None:
            return self.cloud.recipients()
        raw = (message_from_bytes(each, policy=policy.default) for each in self.server.messages)
        return [str(each["To"]) for each in raw]


@pytest.fixture(params=["ses", "smtp"])
def sent(
    request: pytest.FixtureRequest, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sent]:
    """A stage that sends to the domain shop.example only."""
    monkeypatch.setenv("GAZETTE_ALLOWED_RECIPIENTS", '["@shop.example"]')
    if request.param == "ses":
        yield Sent(cloud)
        return
    monkeypatch.setattr(Context, "get_remaining_time_in_millis", lambda _: 900_000)
    server = ScriptedSmtp()
    with server.served() as at:
        monkeypatch.setenv("GAZETTE_MAIL_PROVIDER", "smtp")
        monkeypatch.setenv("GAZETTE_SMTP_HOST", at.host)
        monkeypatch.setenv("GAZETTE_SMTP_PORT", str(at.port))
        monkeypatch.setenv("GAZETTE_SMTP_SECURITY", at.security)
        yield Sent(cloud, server)


def test_handlers_send_to_listed_recipients_only(sent: Sent) -> None:
    cloud = sent.cloud
    for user, address in (("ann", IN), ("bo", OUT)):
        cloud.say("subscriber.changed", profile(user, email=address))
        cloud.say("event.created", event(1, user_id=user))
        cloud.work("generate", *fan_out(cloud, user))
    assert sent.recipients() == [IN]
    run = DynamoRuns("runs", retention=GenerateSettings.from_env().run_retention).get(
        RunKey("bo", DAILY, 1)
    )
    assert run
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.NOT_ALLOWED)


def test_mailers_of_both_streams_refuse_other_recipients_before_they_connect(sent: Sent) -> None:
    """Should a step fail to check the list, the mailer still does."""
    both = mailers(GenerateSettings.from_env())
    for mailer in (both.digest, both.immediate):
        assert mailer.send(a_mail(to=OUT), 1) == RefusedForGood(1, NOT_ALLOWED)
    assert sent.recipients() == []
    if sent.server:
        assert sent.server.connections == 0
    assert both.immediate.send(a_mail(to=IN), 1)
    assert sent.recipients() == [IN]
