"""`gazette explain` says of a digest that asks a source what it waits for, and went without."""

from typing import Any

from gazette.domain.content.items import RECOMMENDATIONS
from gazette.domain.delivery.run import Reason
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.support.words.sections import sections
from gazette.steps.support.words.summary import verdict

from gazette_cli.explain.document import document
from tests.builders import an_event
from tests.explained import explained
from tests.unit.content.asking import DOWN, an_answer
from tests.unit.content.test_digests import a_world, come_due, fetch_ahead, wait
from tests.world import World


def answer(world: World) -> str:
    return " ".join(verdict(explained(world)))


def rows(world: World, name: str) -> list[tuple[str, ...]]:
    (found,) = (each for each in sections(explained(world)) if each.name == name)
    return list(found.rows)


def test_explain_shows_when_waiting_digest_requested_its_sources() -> None:
    world = a_world(*[DOWN] * 9)
    world.create(an_event())
    come_due(world)
    assert "the content sources were queried at 2026-11-23 07:01" in answer(world)
    assert "gazette sources status" in rows(world, "run")[0][7]


def test_explain_reports_digest_sent_without_items() -> None:
    world = a_world(*[DOWN] * 9)
    world.create(an_event())
    come_due(world)
    wait(world, minutes=12)
    assert "no new items from recommendations, which did not respond in time" in answer(world)
    runs: Any = document(explained(world), stage="prod")["runs"]
    assert [run["without"] for run in runs] == [(RECOMMENDATIONS,)]


def test_explain_shows_reason_for_skipped_digest() -> None:
    down, quiet = a_world(*[DOWN] * 9), a_world()
    for world in (down, quiet):
        come_due(world)
    wait(down, minutes=12)
    quiet.fetch_queued()
    wait(quiet, minutes=2)
    assert "the content sources did not respond in time" in answer(down)
    assert "the content sources had no new items" in answer(quiet)
    assert [run.reason for run in quiet.runs.rows.values()] == [Reason.NOTHING_NEW]


def test_explain_shows_reason_for_skipped_occurrence() -> None:
    world = a_world()
    fetch_ahead(world)
    come_due(world)
    assert "no event was waiting, and the content sources had no new items" in answer(world)


def test_explain_shows_sources_and_last_fetch_of_schedule() -> None:
    world = a_world(an_answer("a"))
    (*_, before) = rows(world, "schedule")
    assert before[2] == "shows events, recommendations; never fetched"
    fetch_ahead(world)
    (*_, after) = rows(world, "schedule")
    assert after[2].startswith("shows events, recommendations; last fetched at 2026-11-23 06:")


def test_explain_shows_effective_frequency_of_choice() -> None:
    world = a_world()
    world.clock.pass_time(minutes=1)
    world.choose(recommendation=Frequency.IMMEDIATE)
    assert rows(world, "choice")[0][:2] == ("recommendation", "daily")
