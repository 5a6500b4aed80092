"""A stage that is not production sends only to the recipients that it allows."""

from dataclasses import replace

import pytest
from gazette.adapters.mail.allowed import NOT_ALLOWED, AllowedMailer
from gazette.adapters.mail.canary import SIMULATOR_ADDRESS
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.delivery.signals import Accepted, RefusedForGood
from gazette.domain.subscribers.addresses import EVERYONE, SIMULATOR, AllowedRecipients
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import a_mail, a_subscriber, an_event
from tests.fakes import FakeMailer
from tests.world import World

OTHERS = AllowedRecipients.of(["@shop.example"])


@pytest.mark.parametrize(
    ("entry", "address", "is_allowed"),
    [
        ("ann@shop.example", "ann@shop.example", True),
        ("ann@shop.example", "ANN@Shop.Example", True),
        ("Ann@Shop.Example", "ann@shop.example", True),
        ("ann@shop.example", "bo@shop.example", False),
        ("ann@shop.example", "ann+1@shop.example", False),
        ("@shop.example", "bo@shop.example", True),
        ("@Shop.Example", "bo@shop.example", True),
        ("@shop.example", "bo@sub.shop.example", False),
        ("@shop.example", "bo@notshop.example", False),
        ("@shop.example", "bo@shop.example.evil.example", False),
        ("@shop.example", '"bo@shop.example"@evil.example', False),
        ("@shop.example", "shop.example", False),
        ("@shop.example", "", False),
        ("@shop.example", f"success+1@{SIMULATOR}", True),
    ],
)
def test_address_is_allowed_only_if_it_or_its_domain_is_listed(
    entry: str, address: str, is_allowed: bool
) -> None:
    assert AllowedRecipients.of([entry]).allow(address) is is_allowed


def test_empty_list_allows_everyone() -> None:
    assert AllowedRecipients.of([]).allow("ann@example.com")
    assert EVERYONE.is_everyone


@pytest.mark.parametrize(
    "entry",
    ["", "@", "shop.example", "*@shop.example", "@*", "a b@shop.example", None, 1, ["@a.b"]],
)
def test_invalid_entry_is_refused_instead_of_ignored(entry: object) -> None:
    with pytest.raises(ValueError, match="is not a recipient"):
        AllowedRecipients.of(["@shop.example", entry])


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_run_of_other_reader_is_skipped_and_nothing_is_sent(often: Frequency) -> None:
    world = World()
    world.allowed = OTHERS
    world.choose(comment=often)
    world.create(an_event(occurred_at=world.clock()))
    world.send_everything()
    (run,) = world.runs.rows.values()
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.NOT_ALLOWED)
    assert (run.window, run.attempt) == (None, 0)
    assert not world.mailer.accepted


def test_next_digest_has_the_events_once_the_reader_is_allowed() -> None:
    world = World()
    world.allowed = OTHERS
    world.choose()
    world.create(an_event(occurred_at=world.clock()))
    world.send_everything()
    world.allowed = AllowedRecipients.of([a_subscriber("ann").email])
    world.send_everything()
    (email,) = world.emails("ann")
    assert email.lines == ("post1: 1",)


def test_critical_email_is_not_exempt() -> None:
    world = World()
    world.allowed = OTHERS
    world.context = replace(world.context, critical=frozenset({"password"}))
    world.choose()
    world.create(an_event(category="password", occurred_at=world.clock()))
    world.send_everything()
    assert {run.reason for run in world.runs.rows.values()} == {Reason.NOT_ALLOWED}


def test_forecast_of_a_redrive_knows_the_list() -> None:
    world = World()
    world.allowed = OTHERS
    assert world.dry_run_context().allowed == world.delivery_context().allowed == OTHERS


def test_mailer_refuses_other_recipients_for_good_without_calling_the_provider() -> None:
    provider = FakeMailer()
    mailer = AllowedMailer(provider, OTHERS)
    assert mailer.send(replace(a_mail(), to="ann@example.com"), 3) == RefusedForGood(3, NOT_ALLOWED)
    assert not provider.accepted
    assert isinstance(mailer.send(replace(a_mail(), to="bo@shop.example"), 1), Accepted)


def test_canary_goes_to_an_address_that_every_list_allows() -> None:
    assert OTHERS.allow(SIMULATOR_ADDRESS)
