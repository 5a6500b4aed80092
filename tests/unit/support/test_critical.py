"""What `gazette explain` says of critical categories."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from gazette.domain.commands import ChoosePreferences
from gazette.domain.identity import address_hash
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.support.words.sections import sections
from gazette.steps.support.words.summary import verdict

from gazette_cli.explain.document import document
from tests.builders import NOW, an_event
from tests.explained import explained
from tests.world import World

STILL = "Critical categories are still sent: security."


@pytest.fixture
def world() -> World:
    world = World(critical=frozenset({"security"}))
    world.choose(at=NOW - timedelta(days=1), security=Frequency.NEVER)
    return world


def put(world: World) -> None:
    world.create(an_event("alert", category="security", occurred_at=world.clock()))


def said(world: World) -> str:
    found = explained(world)
    return "\n".join([*verdict(found), str(sections(found))])


def test_explain_reports_ineffective_mutes_of_critical_categories(world: World) -> None:
    (choice,) = explained(world).choices
    assert (choice.frequency, choice.chosen) == (Frequency.IMMEDIATE, Frequency.NEVER)
    assert "critical, so choices have no effect; chosen at" in said(world)
    assert "Muted" not in said(world)
    assert STILL not in said(world), "everything comes"
    assert document(explained(world), stage="prod")["critical_categories"] == ("security",)


def test_explain_reports_critical_email_to_unsubscribed_and_paused_readers(world: World) -> None:
    until = date(2026, 12, 24)
    world.say(ChoosePreferences("ann", Choice(paused_until=until), world.clock()))
    assert STILL in said(world)
    world.unsubscribe()
    put(world)
    assert STILL in said(world)
    assert "the critical email about post#post1" in said(world)
    assert "(not sent)" not in said(world)
    world.send_everything()
    assert "The latest run was the critical email about post#post1" in said(world)


def test_explain_reports_no_critical_email_after_a_bounce(world: World) -> None:
    world.unsubscribe()
    put(world)
    world.suppressions.add(address_hash("ann@example.com"), Cause.BOUNCED)
    assert STILL not in said(world)
    assert "(not sent)" in said(world)


def test_explain_omits_critical_categories_if_none_exist(world: World) -> None:
    world.critical = frozenset()
    world.context = replace(world.context, critical=frozenset())
    world.unsubscribe()
    assert "ritical" not in said(world)
