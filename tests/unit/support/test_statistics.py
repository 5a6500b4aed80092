"""What became of many emails, counted; whatever pages and slots they come in."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent
from gazette.domain.feedback.experiment import DEFAULT_VARIANT, Variant
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import SLOT, slot_of
from hypothesis import given
from hypothesis import strategies as st

from gazette_support.domain.experiment_readers import Arm
from gazette_support.domain.statistics import (
    DEPLOYED,
    NO_EXPERIMENT,
    NOT_KNOWN,
    Dimension,
    Measure,
    is_tracked,
    kinds,
    measures_of,
    rate,
    values,
)
from gazette_support.steps.statistics import Statistics, collect_statistics, of_experiment
from tests.builders import NOW

BEGIN = slot_of(NOW)
SENT, DELIVERED, CLICKED = EngagementEvent.SENT, EngagementEvent.DELIVERED, EngagementEvent.CLICKED
NOTHING_DONE = dict.fromkeys(
    (Measure.COMPLAINED, Measure.OPENED, Measure.CLICKED, Measure.UNSUBSCRIBED), 0
)


def an_email(
    *events: EngagementEvent,
    reader: str = "ann",
    schedule: str = "daily",
    number: int = 1,
    slot: int = 0,
    variant: Variant = DEFAULT_VARIANT,
    locale: str = "en",
    categories: tuple[str, ...] = ("comment",),
) -> Engagement:
    """The `number`-th email of a reader, due `slot` slots after the first one."""
    at = BEGIN + slot * SLOT
    first = {event: at + timedelta(seconds=each) for each, event in enumerate(events or (SENT,))}
    return Engagement(RunKey(reader, schedule, number), at, locale, variant, categories, first)


class Shelf:
    """The half of the port `Engagements` that a report reads: emails in the order given."""

    def __init__(self, emails: Iterable[Engagement]) -> None:
        self._emails = list(emails)

    def record(self, *_: object) -> bool:
        raise AssertionError("a report writes nothing")

    def of_slot(self, slot: datetime) -> Iterator[Engagement]:
        return (email for email in self._emails if email.slot == slot)


def reported(emails: Iterable[Engagement], experiment: str = "") -> Statistics:
    those = list(emails)
    slots = sorted({email.slot for email in those})
    arm_of = of_experiment(experiment) if experiment else None
    return collect_statistics(slots, engagements=Shelf(those), arm_of=arm_of)


EVENTS = st.frozensets(st.sampled_from(EngagementEvent), min_size=1)
VARIANTS = st.one_of(
    st.just(DEFAULT_VARIANT), st.builds(Variant, st.integers(1, 3), st.sampled_from(["new", "old"]))
)
EMAILS = st.lists(
    st.builds(
        lambda events, **given: an_email(*sorted(events), **given),
        EVENTS,
        reader=st.sampled_from("abcdef"),
        schedule=st.sampled_from(["daily", "weekly", "now5f1c"]),
        number=st.integers(1, 9),
        slot=st.integers(0, 3),
        variant=VARIANTS,
        locale=st.sampled_from(["", "en", "de-AT"]),
        categories=st.sampled_from([(), ("like",), ("like", "comment")]),
    ),
    max_size=30,
)


@given(emails=EMAILS, experiment=st.sampled_from(["", "new"]), data=st.data())
def test_report_does_not_depend_on_slots_or_order_of_emails(
    emails: list[Engagement], experiment: str, data: st.DataObject
) -> None:
    moved = [replace(each, slot=BEGIN + data.draw(st.integers(0, 5)) * SLOT) for each in emails]
    shuffled = data.draw(st.permutations(moved))
    assert reported(shuffled, experiment) == reported(emails, experiment)


@given(emails=EMAILS)
def test_frequencies_locales_and_variations_each_add_up_to_the_total(
    emails: list[Engagement],
) -> None:
    counts = reported(emails).counts
    for dimension in (Dimension.FREQUENCY, Dimension.LOCALE, Dimension.VARIATION):
        for measure in Measure:
            parts = sum(counts[dimension, each, measure] for each in values(counts, dimension))
            assert parts == counts[Dimension.TOTAL, "", measure]


@given(emails=EMAILS)
def test_every_email_has_a_final_outcome(emails: list[Engagement]) -> None:
    for email in emails:
        found = measures_of(email)
        ends = {Measure.DELIVERED, Measure.BOUNCED, Measure.REJECTED}
        assert found[0] is Measure.SENT
        assert (
            bool(ends & set(found)) + (Measure.DELAYED in found) + (Measure.UNCONFIRMED in found)
            == 1
        )


@given(emails=EMAILS)
def test_rates_do_not_exceed_100_percent(emails: list[Engagement]) -> None:
    counts = reported(emails).counts
    for dimension in Dimension:
        for value in values(counts, dimension):
            for measure in Measure:
                of = rate(counts, dimension, value, measure)
                assert of is None or 0 <= of <= 1


@given(emails=EMAILS)
def test_each_reader_of_an_experiment_counts_once(emails: list[Engagement]) -> None:
    of_new = [each for each in emails if each.variant.experiment == "new"]
    arms = reported(emails, "new").readers.arms()
    assert sum(arm.readers for arm in arms) == len({each.key.user_id for each in of_new})
    for act in NOTHING_DONE:
        who = {each.key.user_id for each in of_new if act in measures_of(each)}
        assert sum(arm.did[act] for arm in arms) == len(who)


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ("sent", "sent, unconfirmed"),
        ("sent delayed", "sent, delayed"),
        ("sent delayed delivered", "sent, delivered"),
        ("bounced", "sent, bounced"),
        ("delivered bounced", "sent, delivered, bounced"),
        ("rejected", "sent, rejected"),
        ("sent clicked", "sent, delivered, clicked"),
        ("unsubscribed", "sent, delivered, unsubscribed"),
        ("sent complained opened", "sent, delivered, complained, opened"),
    ],
)
def test_email_counts_for_reported_and_implied_events(events: str, found: str) -> None:
    email = an_email(*map(EngagementEvent, events.split()))
    assert ", ".join(measures_of(email)) == found


def test_email_counts_once_in_each_shown_category_and_in_total() -> None:
    email = an_email(categories=("like", "comment"), schedule="now5f1c", locale="")
    assert Counter(kinds(email)) == {
        (dimension, value, measure): 1
        for dimension, value in [
            (Dimension.TOTAL, ""),
            (Dimension.FREQUENCY, "immediate"),
            (Dimension.CATEGORY, "like"),
            (Dimension.CATEGORY, "comment"),
            (Dimension.LOCALE, NOT_KNOWN),
            (Dimension.VARIATION, NO_EXPERIMENT),
            (Dimension.TEMPLATES, DEPLOYED),
        ]
        for measure in (Measure.SENT, Measure.UNCONFIRMED)
    }


def test_most_frequent_row_is_listed_first() -> None:
    emails = [an_email(locale=locale, number=n) for n, locale in enumerate(["de", "en", "en", "a"])]
    assert values(reported(emails).counts, Dimension.LOCALE) == ["en", "a", "de"]


def test_measure_without_reports_may_be_untracked() -> None:
    counts = reported([an_email(DELIVERED), an_email(CLICKED, number=2)]).counts
    assert is_tracked(counts, Measure.CLICKED)
    assert not is_tracked(counts, Measure.OPENED)
    assert is_tracked(counts, Measure.COMPLAINED)


def test_delivery_rate_is_per_sent_and_click_rate_per_delivered_email() -> None:
    emails = [
        an_email(*events, number=n)
        for n, events in enumerate([(), (DELIVERED,), (CLICKED,), (EngagementEvent.BOUNCED,)])
    ]
    counts = reported(emails).counts
    assert rate(counts, Dimension.TOTAL, "", Measure.DELIVERED) == 2 / 4
    assert rate(counts, Dimension.TOTAL, "", Measure.CLICKED) == 1 / 3
    assert rate(counts, Dimension.LOCALE, "xx", Measure.CLICKED) is None


def test_engagement_is_per_accepted_email_without_delivery_reports() -> None:
    told = [(), (), (), (EngagementEvent.UNSUBSCRIBED,)]
    counts = reported([an_email(*events, number=n) for n, events in enumerate(told)]).counts
    assert rate(counts, Dimension.TOTAL, "", Measure.UNSUBSCRIBED) == 1 / 4


def test_experiment_report_excludes_emails_outside_the_experiment() -> None:
    emails = [
        an_email(variant=Variant(2, "new")),
        an_email(variant=Variant(2, "old"), number=2),
        an_email(number=3),
    ]
    found = reported(emails, "new")
    assert values(found.counts, Dimension.VARIATION) == ["new 2"]
    assert found.readers.arms() == [Arm(2, 1, NOTHING_DONE)]


def test_report_without_an_experiment_contains_no_reader_data() -> None:
    assert reported([an_email(variant=Variant(2, "new"))]).readers.began == {}


@pytest.mark.parametrize("order", [list, reversed])
def test_reader_with_a_changed_variation_counts_in_the_first_variation(
    order: Callable[[list[Engagement]], Iterable[Engagement]],
) -> None:
    emails = [
        an_email(slot=0, variant=Variant(1, "new")),
        an_email(DELIVERED, CLICKED, slot=2, number=2, variant=Variant(2, "new")),
        an_email(reader="bo", variant=Variant(2, "new")),
    ]
    readers = reported(order(emails), "new").readers
    assert readers.arms() == [
        Arm(1, 1, NOTHING_DONE | {Measure.CLICKED: 1}),
        Arm(2, 1, NOTHING_DONE),
    ]
    assert readers.moved == {"ann"}


def test_two_clicks_of_a_reader_count_once() -> None:
    emails = [an_email(CLICKED, number=n, slot=n, variant=Variant(1, "new")) for n in (1, 2)]
    (arm,) = reported(emails, "new").readers.arms()
    assert (arm.readers, arm.did[Measure.CLICKED]) == (1, 1)
