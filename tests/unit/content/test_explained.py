"""`gazette explain` says of a digest that asks a source what it waits for, and went without."""

from typing import Any

from gazette.domain.content import RECOMMENDATIONS
from gazette.domain.delivery.run import Reason
from gazette.domain.subscribers.frequency import Frequency

from cli.explain.document import document
from cli.explain.sections import sections
from cli.explain.summary import verdict
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


def test_of_a_digest_that_waits_it_says_that_its_sources_were_asked_and_when() -> None:
    world = a_world(*[DOWN] * 9)
    world.create(an_event())
    come_due(world)
    assert "its content sources were queried at 2026-11-23 07:01" in answer(world)
    assert "gazette sources status" in rows(world, "run")[0][7]


def test_of_one_that_went_without_it_says_so() -> None:
    world = a_world(*[DOWN] * 9)
    world.create(an_event())
    come_due(world)
    wait(world, minutes=12)
    assert "it has no new items of recommendations, which did not answer in time" in answer(world)
    runs: Any = document(explained(world), stage="prod")["runs"]
    assert [run["without"] for run in runs] == [(RECOMMENDATIONS,)]


def test_of_one_that_was_skipped_it_says_why() -> None:
    down, quiet = a_world(*[DOWN] * 9), a_world()
    for world in (down, quiet):
        come_due(world)
    wait(down, minutes=12)
    quiet.fetch_queued()
    wait(quiet, minutes=2)
    assert "its content sources did not answer in time" in answer(down)
    assert "its content sources had no new items" in answer(quiet)
    assert [run.reason for run in quiet.runs.rows.values()] == [Reason.NOTHING_NEW]


def test_of_an_occurrence_that_was_passed_it_says_why() -> None:
    world = a_world()
    fetch_ahead(world)
    come_due(world)
    assert "no event was waiting, and its content sources had no new items" in answer(world)


def test_of_a_schedule_it_says_what_it_asks_and_when_it_did_last() -> None:
    world = a_world(an_answer("a"))
    (*_, before) = rows(world, "schedule")
    assert before[2] == "shows events, recommendations; never fetched"
    fetch_ahead(world)
    (*_, after) = rows(world, "schedule")
    assert after[2].startswith("shows events, recommendations; last fetched at 2026-11-23 06:")


def test_of_a_choice_it_says_what_it_comes_to() -> None:
    world = a_world()
    world.clock.pass_time(minutes=1)
    world.choose(recommendation=Frequency.IMMEDIATE)
    assert rows(world, "choice")[0][:2] == ("recommendation", "daily")
