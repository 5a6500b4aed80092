"""What each use case costs with 10 and with 100 rows of one reader's past, and proof of that proof.

`make history` goes on to 10,000 rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import Run
from gazette.domain.errors import NotYet
from gazette.domain.stored import readable

from proofs.history import __main__ as program
from proofs.history.__main__ import Judged, judged
from proofs.history.counting import HOPELESS, Tally, counted
from proofs.history.furnish import on_fakes
from proofs.history.measure import Measured, measure
from proofs.history.page import PAGE, section
from proofs.history.past import PASTS, READER, past
from proofs.history.stated import BOUNDS, CALLS, GROWS, WORSE, Grows
from proofs.history.uses import Use, uses
from proofs.history.verdict import Case, Growth, judge
from tests.world import World

FEW, MORE_ROWS = 10, 100
MOVED = 20
"""So few that a choice is done in time today; `make history` moves 2,000."""


@pytest.fixture(scope="module")
def cases() -> Mapping[Case, Judged]:
    found = judged((FEW, MORE_ROWS), moved=MOVED)
    return {(each.use.name, each.kind): each for each in found}


def test_list_of_expensive_use_cases_is_exact(
    cases: Mapping[Case, Judged],
) -> None:
    worse = {case for case, each in cases.items() if each.verdict.growth is Growth.WORSE}
    assert worse == {case for case, size in WORSE.items() if size <= MORE_ROWS}


def test_every_use_case_is_measured_with_every_history(cases: Mapping[Case, Judged]) -> None:
    assert set(cases) == {(use.name, kind) for use in uses(MOVED) for kind in PASTS}
    assert set(WORSE) <= set(cases)
    assert {(each.use, kind) for each in GROWS for kind in each.kinds} <= set(cases)


def test_use_cases_stay_within_documented_call_counts(cases: Mapping[Case, Judged]) -> None:
    most = dict.fromkeys(CALLS, 0)
    for (use, kind), each in cases.items():
        if (use, kind) not in WORSE and use != "choose and move":
            most[use] = max(most[use], each.found[0].calls)
    assert {use: number for use, number in most.items() if number > CALLS[use]} == {}


def test_growing_use_cases_grow_no_faster_than_documented(
    cases: Mapping[Case, Judged],
) -> None:
    for each in GROWS:
        for kind in each.kinds:
            if WORSE.get((each.use, kind), MORE_ROWS + 1) > MORE_ROWS:
                assert cases[each.use, kind].verdict.growth is not Growth.WORSE
    assert BOUNDS.keys() <= {(each.use, kind) for each in GROWS for kind in each.kinds}


def test_undocumented_growth_is_rated_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    def erasure() -> Judged:
        return next(judged((FEW, MORE_ROWS), only="erase, waiting"))

    assert erasure().verdict.growth is Growth.PAGED
    monkeypatch.setattr(program, "GROWS", ())
    assert erasure().verdict.why == "paged, and not stated"
    monkeypatch.setattr(program, "GROWS", (Grows("erase", ("waiting",), 1, "a page"),))
    assert erasure().verdict.why == "more than 1 calls for each hundred"


def test_history_page_matches_measurements() -> None:
    assert section() in PAGE.read_text()


# The instrument itself.


def _use(act: Callable[[World], object], **more: object) -> Use:
    return replace(Use("planted", act, lambda _: True), **more)  # type: ignore[arg-type]


def _judge(use: Use, kind: str = "runs", bounds: Mapping[Case, int] | None = None) -> object:
    found = [measure(use, kind, size) for size in (FEW, MORE_ROWS)]
    return judge(use, kind, found, bounds or {}).growth


def _each_run(world: World) -> None:
    """Reads all runs, one by one."""
    for run in list(readable(world.runs.of_user(READER))):
        world.runs.get(run.key)


def test_reading_every_run_is_rated_worse() -> None:
    assert _judge(_use(_each_run)) is Growth.WORSE
    assert _judge(_use(_each_run), "follows") is Growth.CONSTANT


def test_reading_one_row_per_page_is_rated_worse() -> None:
    assert _judge(_use(_each_run, paged_in={"runs"})) is Growth.WORSE


def test_reading_rows_in_pages_is_rated_paged() -> None:
    def in_pages(world: World) -> None:
        entities = [(entity, READER) for entity in world.follows.followed_by(READER)]
        for start in range(0, len(entities), 30):
            world.follows.get_many(entities[start : start + 30])

    use = _use(in_pages, paged_in={"follows"})
    assert _judge(use, "follows") is Growth.PAGED
    assert _judge(replace(use, paged_in=()), "follows") is Growth.WORSE


def test_writing_a_row_twice_is_rated_worse() -> None:
    def write(times: int) -> Callable[[World], None]:
        def act(world: World) -> None:
            for run in list(readable(world.runs.of_user(READER))):
                for _ in range(times):
                    world.runs.swap(run, run)

        return act

    assert _judge(_use(write(1), paged_in={"runs"})) is Growth.PAGED
    assert _judge(_use(write(2), paged_in={"runs"})) is Growth.WORSE


def test_bounded_use_case_stays_within_bound() -> None:
    assert _judge(_use(_each_run), bounds={("planted", "runs"): 200}) is Growth.BOUNDED
    assert _judge(_use(_each_run), bounds={("planted", "runs"): 50}) is Growth.WORSE


def test_unfinished_use_case_is_rated_worse() -> None:
    assert _judge(_use(lambda _: None, done=lambda _: False)) is Growth.WORSE


def test_unfinished_message_is_received_until_done() -> None:
    left = [3]

    def act(world: World) -> None:
        world.subscribers.get(READER)
        left[0] -= 1
        if left[0]:
            raise NotYet("more is left")

    found = measure(_use(act), "runs", FEW)
    assert (found.receives, found.calls, found.is_done) == (3, 3, True)


def test_message_that_never_completes_is_rated_worse() -> None:
    def act(_: World) -> None:
        raise NotYet("for ever")

    found = measure(_use(act), "runs", FEW)
    assert not found.is_done
    assert _judge(_use(act)) is Growth.WORSE


def test_only_overlong_receive_is_rated_worse() -> None:
    def receives(calls: int) -> Callable[[World], None]:
        left = [6_000]

        def act(world: World) -> None:
            for _ in range(calls):
                world.subscribers.get(READER)
            left[0] -= calls
            if left[0] > 0:
                raise NotYet("more is left")

        return act

    long = measure(_use(receives(6_000)), "runs", FEW)
    assert long.longest == timedelta(seconds=30)
    assert judge(_use(receives(1)), "runs", [long], {}).growth is Growth.WORSE
    short = measure(_use(receives(1_000)), "runs", FEW)
    assert (short.receives, short.longest) == (6, timedelta(seconds=5))
    assert judge(_use(receives(1)), "runs", [short], {}).growth is Growth.CONSTANT


def test_measured_step_sees_remaining_time_decrease() -> None:
    def act(world: World) -> None:
        while world.time_left() > timedelta(seconds=80):
            world.subscribers.get(READER)

    assert measure(_use(act), "runs", FEW).calls == 2_000


def test_measurement_aborts_endless_step() -> None:
    def act(world: World) -> None:
        while True:
            world.subscribers.get(READER)

    found = measure(_use(act), "runs", FEW)
    assert found.calls == HOPELESS + 1
    assert not found.is_done


def test_growing_memory_is_rated_worse() -> None:
    first = measure(_use(_each_run), "follows", FEW, weighs=True)
    assert 0 < first.megabytes < 1
    much = replace(first, size=MORE_ROWS, megabytes=201.0)
    assert judge(_use(_each_run), "follows", [first, much], {}).growth is Growth.WORSE


def test_quadratic_row_comparison_is_rated_worse() -> None:
    first = measure(_use(_each_run), "follows", FEW)
    much = replace(first, size=MORE_ROWS, seconds=61.0)
    assert judge(_use(_each_run), "follows", [first, much], {}).growth is Growth.WORSE


@pytest.mark.parametrize(
    ("kind", "size", "pages"),
    [("suppressed", 16, 2), ("suppressed", 17, 2), ("skipped", 17, 1), ("runs", 50, 1)],
)
def test_run_chain_is_read_in_pages_of_sixteen(kind: str, size: int, pages: int) -> None:
    world = on_fakes(past(kind, size))
    tally = Tally(world.clock)
    chain: Sequence[Run] = counted(world, tally).runs.chain(past(kind, size).runs[-1].key)
    assert len(chain) in {1, 2, size}
    assert tally.requests == {"runs.chain": pages}


def test_one_megabyte_is_one_page() -> None:
    world = on_fakes(past("runs", 3_000))
    tally = Tally(world.clock)
    runs = counted(world, tally).runs.of_user(READER)
    next(runs)
    assert tally.calls == 1
    assert len(list(runs)) == 2_999
    assert tally.calls == 2
    assert isinstance(measure(_use(_each_run), "runs", FEW), Measured)
