"""A short seed of `make timetravel`."""

from proofs.timetravel.travel import travel


def test_every_due_occurrence_has_one_run_at_its_hour_whatever_becomes_of_the_ticks() -> None:
    tally = travel(subscribers=60, days=40)
    assert tally.is_clean, str(tally)
    assert tally.occurrences > 750
