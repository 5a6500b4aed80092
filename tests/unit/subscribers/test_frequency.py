"""How often a reader hears of a category, and which digests that takes."""

import pytest
from gazette.domain.subscribers.frequency import (
    DIGESTS,
    EVERYTHING,
    Frequency,
    digests_in,
    frequencies,
    frequency_for,
)

NEVER, IMMEDIATE, DAILY, WEEKLY, CUSTOM = Frequency


@pytest.mark.parametrize(
    ("chosen", "default", "counts"),
    [
        (WEEKLY, IMMEDIATE, WEEKLY),
        (NEVER, IMMEDIATE, NEVER),
        (DAILY, NEVER, DAILY),
        (None, IMMEDIATE, IMMEDIATE),
        (None, NEVER, NEVER),
        (IMMEDIATE, None, IMMEDIATE),
        (None, None, DAILY),
    ],
)
def test_choice_precedes_the_default_which_precedes_daily(
    chosen: Frequency | None, default: Frequency | None, counts: Frequency
) -> None:
    choices = frequencies({"comment": chosen} if chosen else {})
    defaults = frequencies({"comment": default} if default else {})
    assert frequency_for("comment", chosen=choices, defaults=defaults) is counts


def test_choice_of_another_category_has_no_effect() -> None:
    other = frequencies({"like": NEVER})
    assert frequency_for("comment", chosen=other, defaults=other) is DAILY


@pytest.mark.parametrize(("own", "counts"), [(None, WEEKLY), (NEVER, NEVER), (DAILY, DAILY)])
def test_general_choice_overrides_the_default_but_not_the_category(
    own: Frequency | None, counts: Frequency
) -> None:
    chosen = frequencies({EVERYTHING: WEEKLY} | ({"comment": own} if own else {}))
    defaults = frequencies({"comment": IMMEDIATE})
    assert frequency_for("comment", chosen=chosen, defaults=defaults) is counts
    assert digests_in((chosen, defaults)) == {DAILY, WEEKLY}


def test_frequencies_have_a_canonical_order() -> None:
    one = frequencies({"like": NEVER, "comment": WEEKLY})
    assert one == frequencies({"comment": WEEKLY, "like": NEVER})
    assert one == (("comment", WEEKLY), ("like", NEVER))


@pytest.mark.parametrize(
    ("used", "schedules"),
    [
        ((), {DAILY}),
        ((NEVER, IMMEDIATE), {DAILY}),
        ((WEEKLY,), {DAILY, WEEKLY}),
        ((CUSTOM, WEEKLY, NEVER), {DAILY, WEEKLY, CUSTOM}),
    ],
)
def test_digest_schedules_are_daily_and_the_chosen_frequencies(
    used: tuple[Frequency, ...], schedules: set[Frequency]
) -> None:
    chosen = frequencies({f"category{number}": one for number, one in enumerate(used)})
    assert digests_in((chosen, ())) == digests_in(((), chosen)) == schedules


def test_immediate_and_never_have_no_schedule() -> None:
    assert set(Frequency) - set(DIGESTS) == {NEVER, IMMEDIATE}
