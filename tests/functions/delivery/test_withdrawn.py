"""Withdrawals on moto, with the real handlers: the digest and the views of a sent one."""

from collections.abc import Callable

import pytest
from gazette.domain.scheduling.kinds import Unsent
from gazette.settings.ingest import IngestSettings
from typer.testing import CliRunner

from gazette_cli.main import app
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy
from tests.functions.messages import event, http, profile


@pytest.fixture
def withdraw(cloud: Cloud) -> Callable[..., None]:
    """Return a function that runs `gazette withdraw add`."""
    deploy("ingest", IngestSettings.from_env().to_env())

    def run(*arguments: str) -> None:
        done = CliRunner().invoke(app, ["withdraw", "add", *arguments, "--yes"])
        assert done.exit_code == 0, done.output

    return run


@pytest.mark.usefixtures("later")
def test_digest_leaves_out_the_withdrawn_actor(cloud: Cloud, withdraw: Callable[..., None]) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1), event(2, entity="post#p2"))
    withdraw("--actor", "u1")
    cloud.work("generate", *fan_out(cloud))
    (mail,) = cloud.sent()
    email = mail["Content"]["Simple"]["Body"]["Text"]["Data"]
    assert "User 2" in email
    assert "User 1" not in email
    places = {row["event_id"]: row["stored"].partition("#")[0] for row in cloud.rows("events")}
    assert places == {event(1)["id"]: Unsent.EXCLUDED, event(2)["id"]: "daily"}


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("name", ["email", "updates"])
def test_views_of_a_sent_email_leave_out_the_withdrawn_entity(
    cloud: Cloud, withdraw: Callable[..., None], name: str
) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1), event(2, entity="post#p2"))
    cloud.work("generate", *fan_out(cloud))
    withdraw("--entity", "post#p1")
    page = cloud.invoke("preferences", http("GET", cloud.link(name)))
    assert page["statusCode"] == 200
    assert "User 2" in page["body"]
    assert "User 1" not in page["body"]
