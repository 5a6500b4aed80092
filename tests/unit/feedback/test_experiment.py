"""Who gets which variation: stable, by weight, and no more move than have to."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.arrangement import DEFAULT, Ranking
from gazette.domain.delivery.compose import compose
from gazette.domain.delivery.run import Run, Status
from gazette.domain.feedback.experiment import (
    Experiment,
    InvalidExperiment,
    Variant,
    experiment,
    variant_of,
)
from gazette.domain.model import DAILY, RunKey
from hypothesis import given
from hypothesis import strategies as st

from gazette_cdk.assets.templates.build import build_templates
from tests.builders import NOW, a_subscriber, an_event
from tests.fakes import FakeRenderer
from tests.world import World

TEMPLATES = Path(__file__).parents[3] / "templates"
READERS = [f"reader{number}" for number in range(4000)]


def running(name: str = "subject", **weights: int) -> Experiment:
    return experiment(name, {int(key[1:]): weight for key, weight in weights.items()}, NOW)


def shares(some: Experiment) -> Counter[int]:
    return Counter(variant_of(reader, some).variation for reader in READERS)


def test_readers_are_split_according_to_variation_weights() -> None:
    found = shares(running(v1=50, v2=30, v3=20))
    assert found[1] == pytest.approx(2000, abs=130)
    assert found[2] == pytest.approx(1200, abs=120)
    assert found[3] == pytest.approx(800, abs=105)
    assert shares(running(v1=0, v2=1)) == {2: 4000}


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=64))
def test_reader_always_gets_same_variation(user_id: str) -> None:
    some = running(v1=1, v2=1, v3=1)
    assert variant_of(user_id, some) == variant_of(user_id, replace(some, since=NOW))
    assert variant_of(user_id, some).variation in {1, 2, 3}


def test_new_experiment_reassigns_readers() -> None:
    one, other = running("subject", v1=50, v2=50), running("ranking", v1=50, v2=50)
    both = sum(
        variant_of(each, one).variation == variant_of(each, other).variation == 2
        for each in READERS
    )
    assert both == pytest.approx(1000, abs=130)


def test_increased_weight_reassigns_as_few_readers_as_possible() -> None:
    before, after = running(v1=90, v2=10), running(v1=80, v2=20)
    moved = [
        (variant_of(each, before).variation, variant_of(each, after).variation)
        for each in READERS
        if variant_of(each, before) != variant_of(each, after)
    ]
    assert set(moved) == {(1, 2)}
    assert len(moved) == pytest.approx(400, abs=80)


@pytest.mark.parametrize(
    ("name", "weights", "said"),
    [
        ("", {1: 1}, "the name '' must be"),
        ("Big", {1: 1}, "the name 'Big' must be"),
        ("x", {0: 1}, "variation 0 must be 1 to 9"),
        ("x", {10: 1}, "variation 10 must be 1 to 9"),
        ("x", {1: -1}, "the weight of variation 1 must be 0 to 10000"),
        ("x", {1: 0}, "no variation has a weight"),
        ("x", {}, "no variation has a weight"),
    ],
)
def test_invalid_experiment_is_reported(name: str, weights: dict[int, int], said: str) -> None:
    with pytest.raises(InvalidExperiment, match=said):
        experiment(name, weights, NOW)


@pytest.mark.parametrize(
    ("experiments", "variant"), [([running(v2=1)], Variant(2, "subject")), ([], Variant(1, ""))]
)
def test_run_records_its_variation(experiments: list[Experiment], variant: Variant) -> None:
    """Without an experiment everybody gets the first variation."""
    world = World()
    for each in experiments:
        world.experiments.start(each)
    world.subscribers.put(a_subscriber(), replacing=None)
    key = RunKey("ann", DAILY, 1)
    world.runs.create(Run(key, NOW, NOW))
    world.events.store(an_event(), DAILY)
    world.clock.pass_time(minutes=1)
    run = world.generate(key)
    assert run
    assert (run.status, run.variant) == (Status.SENT, variant)


def test_variation_can_change_ranking() -> None:
    events = [
        an_event("old1", entity_id="old"),
        an_event("old2", entity_id="old"),
        an_event("new", entity_id="new", occurred_at=NOW.replace(hour=9)),
    ]
    ranked = {
        arrangement.ranking: [
            group.latest.entity.id
            for group in compose(events, max_blocks=2, arrangement=arrangement).groups
        ]
        for arrangement in (FakeRenderer().arrangement(number, DEFAULT) for number in (1, 2))
    }
    assert ranked == {Ranking.RELEVANCE: ["old", "new"], Ranking.LATEST: ["new", "old"]}


@pytest.mark.parametrize(
    ("experiments", "first"), [([running("ranking", v2=1)], "like"), ([], "mention")]
)
def test_weights_of_variation_apply_to_its_readers(
    tmp_path: Path, experiments: list[Experiment], first: str
) -> None:
    """From variation.json to the email, and to the run by which results are compared."""
    own = tmp_path / "own" / "variations" / "2"
    own.mkdir(parents=True)
    (own / "variation.json").write_text('{"weights": {"like": 1000}}')
    build_templates(TEMPLATES, tmp_path / "built", overlay=tmp_path / "own")
    world = World(renderer=JinjaRenderer(tmp_path / "built"))
    for each in experiments:
        world.experiments.start(each)
    world.subscribers.put(a_subscriber(), replacing=None)
    key = RunKey("ann", DAILY, 1)
    world.runs.create(Run(key, NOW, NOW))
    for category in ("mention", "like"):
        world.events.store(an_event(category, category=category, entity_id=category), DAILY)
    world.clock.pass_time(minutes=1)
    run = world.generate(key)
    assert run
    assert (run.categories[0], run.variant.variation) == (first, 1 + len(experiments))
    ((mail, _),) = world.mailer.accepted
    assert mail.edition.text.index(f"Title of {first}") == min(
        mail.edition.text.index(f"Title of {each}") for each in ("mention", "like")
    )
