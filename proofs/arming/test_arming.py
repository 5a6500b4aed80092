"""A small sample of the search, and the faults that it finds without each rule."""

import pytest
from gazette.domain.model import ScheduleState

from proofs.arming.search import search
from proofs.arming.state import Place, Rule, Setup

NEW, AWAY = Place.NOWHERE, Place.AWAY
ONE = Setup(events=(NEW,), moves=(NEW,), ingests=1)
IDLE = ONE._replace(row=ScheduleState.IDLE)
MOVED = ONE._replace(moves=(AWAY,))
ASKS = ONE._replace(asks=True, unfetched=1)
DORMANT = IDLE._replace(fanouts=1, sunsets=1, wakes=1)
UNSEEN = "G1: an event waits under a row that is not in the index"
UNFOUND = "G1: an event waits under a row that no tick finds"
TWICE = "G2: an event is in two emails"


def assert_breaks(setup: Setup, without: set[Rule], promise: str, *traits: str) -> None:
    """Check that the promise breaks without the rules, by a trace with the traits in this order."""
    found = search(setup._replace(without=frozenset(without)))
    assert found.violation is not None, f"no promise breaks without {without}"
    assert found.violation.startswith(promise)
    told = iter(found.trace)
    for trait in traits:
        assert any(trait in line for line in told), (trait, found.trace)


@pytest.mark.parametrize("setup", [ONE, IDLE, IDLE._replace(deaths=1), DORMANT._replace(wakes=0)])
def test_nothing_breaks_with_all_rules(setup: Setup) -> None:
    found = search(setup)
    assert found.violation is None, found.trace
    assert found.states > 400


def test_a1_an_event_that_is_stored_after_the_row_was_read_is_left_behind() -> None:
    traits = ("reads the row: armed", "takes the row out", "is stored")
    assert_breaks(ONE, {Rule.STORE_BEFORE_READ}, UNSEEN, *traits)


def test_a1_an_event_that_finds_the_row_leaving_is_left_behind() -> None:
    traits = ("reads the row: leaving", "takes the row out")
    assert_breaks(ONE, {Rule.ARM_AT_LEAVING}, UNSEEN, *traits)


def test_a1_a_row_that_is_armed_for_a_reader_who_became_dormant_stays_in_the_index() -> None:
    traits = ("written to be dormant", "arms the row")
    assert_breaks(DORMANT, {Rule.ASK_PROFILE}, "dormant", *traits)


def test_a1_a_row_that_somebody_armed_and_died_for_a_dormant_reader_stays_in_the_index() -> None:
    traits = ("written to be dormant", "arms the row", "dies", "finds event 1 stored")
    setup = DORMANT._replace(wakes=0, deaths=1)
    assert search(setup).violation is None
    assert_breaks(setup, {Rule.ASK_AGAIN}, "dormant", *traits)


def test_a2_an_event_whose_worker_died_before_it_armed_is_left_behind() -> None:
    traits = ("is stored", "dies", "deletes its message")
    assert_breaks(IDLE._replace(deaths=1), {Rule.ARM_AGAIN}, UNSEEN, *traits)


def test_a2_an_event_whose_mover_died_before_it_armed_is_left_behind() -> None:
    setup = IDLE._replace(events=(AWAY,), moves=(Place.HERE,), deaths=1)
    assert_breaks(setup, {Rule.ARM_AGAIN}, UNSEEN, "is moved here", "dies", "reads event and row")


def test_a3_an_event_that_is_stored_after_the_look_at_a_row_without_a_flag_is_left_behind() -> None:
    traits = ("no event waits", "is stored", "reads the row: armed", "takes the row out")
    assert_breaks(ONE, {Rule.FLAG}, UNSEEN, *traits)


def test_a3_an_event_that_is_stored_between_look_and_flag_is_left_behind() -> None:
    traits = ("no event waits", "reads the row: armed", "flags the row", "takes the row out")
    assert_breaks(ONE, {Rule.SECOND_LOOK}, UNSEEN, *traits)


def test_a3_without_a_spent_number_two_workers_and_a_mover_send_an_event_twice() -> None:
    traits = ("takes the row out", "mover of event 1 reads the runs", "starts run 1", "is moved")
    setup = MOVED._replace(idle_is_final=False)
    assert_breaks(setup, {Rule.SPENT_NUMBER}, TWICE, *traits)


def test_a3_without_a_spent_number_a_run_starts_where_nothing_waited() -> None:
    """Only this promise breaks, also if the row keeps its sequence."""
    both = {Rule.SPENT_NUMBER, Rule.LATER_NUMBER}
    assert_breaks(ONE, both, "idle: run 1", "takes the row out", "starts run 1")
    setup = ONE._replace(idle_is_final=False, without=frozenset(both))
    assert search(setup).violation is None


def test_a3_a_row_whose_run_was_found_and_that_goes_on_with_the_next_number_has_two_runs() -> None:
    traits = ("where it would spend its number", "takes the next number", "starts run 2")
    assert_breaks(ONE, {Rule.FOUND_RUN_COUNTS}, "rule 18: run 2", *traits)


@pytest.mark.parametrize("setup", [ASKS, ASKS._replace(deaths=1), ASKS._replace(moves=(AWAY,))])
def test_nothing_breaks_where_the_schedule_asks_a_source(setup: Setup) -> None:
    found = search(setup)
    assert found.violation is None, found.trace
    assert found.states > 400


def test_a3_without_a_spent_number_a_run_starts_for_an_occurrence_that_was_passed() -> None:
    traits = ("passes the occurrence", "starts run 1")
    assert_breaks(ASKS, {Rule.SPENT_NUMBER}, "passed: run 1", *traits)


@pytest.mark.parametrize("rule", [Rule.FLAG, Rule.SECOND_LOOK])
def test_a_schedule_that_asks_a_source_needs_no_flag(rule: Rule) -> None:
    assert search(ASKS._replace(without=frozenset({rule}))).violation is None


def test_a4_an_event_within_the_settle_lag_is_left_behind() -> None:
    traits = ("reads the row: armed", "no event waits", "takes the row out", "lag passes")
    assert_breaks(ONE, {Rule.NO_UPPER_END}, UNSEEN, *traits)


def test_a5_an_entry_that_becomes_visible_behind_the_look_back_is_never_found() -> None:
    traits = ("arms the row", "behind the look-back", "index catches up")
    assert_breaks(IDLE._replace(fanouts=1), {Rule.LOOK_BACK}, UNFOUND, *traits)


def test_a5_a_worker_that_is_overtaken_and_gives_up_leaves_its_slot_behind() -> None:
    """Ticks find the slot again unless it is already behind the look-back."""
    alone = ONE._replace(fanouts=1, without=frozenset({Rule.LOOK_BACK}))
    assert search(alone).violation is None
    traits = ("reads the row: leaving", "behind the look-back", "arms the row")
    assert_breaks(alone, {Rule.LOOK_BACK, Rule.READ_AGAIN}, UNFOUND, *traits)


@pytest.mark.parametrize("rule", [Rule.CHAIN_FIRST, Rule.READ_AGAIN, Rule.ADOPTED_LOOK])
def test_nothing_breaks_without_what_only_saves_work(rule: Rule) -> None:
    assert search(ONE._replace(without=frozenset({rule}))).violation is None


def test_a8_a_row_that_is_born_over_one_that_an_event_has_armed_leaves_the_event_behind() -> None:
    traits = ("profile worker reads the row: absent", "arms the row", "writes the row: idle")
    setup = ONE._replace(row=None, births=1)
    assert search(setup).violation is None
    assert_breaks(setup, {Rule.BORN_IF_ABSENT}, UNSEEN, *traits)


def test_a8_a_waker_that_looks_misses_what_is_stored_after_its_look() -> None:
    traits = ("it looks, and no event waits", "is stored", "reads the row: withdrawn")
    setup = DORMANT._replace(row=ScheduleState.WITHDRAWN)
    assert_breaks(setup, {Rule.WAKE_UNSEEN}, UNSEEN, *traits)


def test_a8_a_row_that_is_armed_before_the_status_is_written_is_withdrawn_again() -> None:
    traits = ("waker writes the row: armed", "withdraws the row", "written to be back")
    setup = DORMANT._replace(row=ScheduleState.WITHDRAWN)
    assert_breaks(setup, {Rule.STATUS_FIRST}, UNSEEN, *traits)


def test_a8_a_row_that_is_not_written_because_it_is_armed_is_withdrawn_as_read() -> None:
    traits = ("sunset worker reads the profile", "written to be back", "withdraws the row")
    assert_breaks(DORMANT, {Rule.WAKE_WRITES}, UNSEEN, *traits)
