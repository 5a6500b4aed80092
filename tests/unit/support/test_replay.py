"""Which runs are rendered again, and what is said of two renditions."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import Run, Status
from gazette.domain.model import DAILY, Edition, RunKey

from gazette_support.domain.replay import (
    BREAKS,
    BlockShown,
    Change,
    Rendition,
    changes_between,
    place_in_sample,
    weight,
)
from gazette_support.steps.replay import Sample, take_sample
from tests.builders import NOW, a_run, a_window, an_event
from tests.fake_stores import FakeRuns, FakeSentRuns

PARTS = 64


@pytest.fixture
def sent() -> FakeSentRuns:
    """Two sent emails of each of two hundred readers."""
    rows = {}
    for number in range(200):
        for sequence in (1, 2):
            key = RunKey(f"reader-{number}", DAILY, sequence)
            rows[key] = replace(
                a_run(), key=key, status=Status.SENT, window=a_window(), sent_at=NOW
            )
    return FakeSentRuns(FakeRuns(rows))


def sample(sent: FakeSentRuns, number: int, most_parts: int = PARTS) -> Sample:
    return take_sample(number, since=NOW, parts=PARTS, most_parts=most_parts, sent=sent)


def test_repeated_samples_contain_the_same_runs(sent: FakeSentRuns) -> None:
    assert sample(sent, 10).runs == sample(sent, 10).runs
    assert len(sample(sent, 10).runs) == 10


def test_complete_sample_contains_all_runs_in_hash_order(
    sent: FakeSentRuns,
) -> None:
    every = sorted(sent.runs.rows.values(), key=place_in_sample)
    quarter = sum(place_in_sample(run) < "4" for run in every)
    assert 80 < quarter < 120
    everything: list[Run] = list(sample(sent, 1000).runs)
    assert sorted(everything, key=place_in_sample) == every
    assert set(map(run_key, everything[:quarter])) == set(map(run_key, every[:quarter]))
    assert everything[quarter:] == every[quarter:]


def run_key(run: Run) -> RunKey:
    return run.key


@pytest.mark.parametrize("number", [1, 2, 5, 9, 10, 23, 50, 99, 150, 250, 399])
def test_larger_sample_contains_all_runs_of_a_smaller_sample(
    sent: FakeSentRuns, number: int
) -> None:
    """Also where the smaller one was read of fewer parts."""
    smaller: list[Run] = list(sample(sent, number).runs)
    assert len(smaller) == number
    for larger in (number + 1, number + 7, 3 * number, 400):
        assert list(sample(sent, larger).runs)[:number] == smaller


def test_sample_contains_emails_of_many_readers(sent: FakeSentRuns) -> None:
    """A part has all runs of some readers: without those that are spare, it would have theirs."""
    for reader in range(200):
        for sequence in range(3, 41):
            key = RunKey(f"reader-{reader}", DAILY, sequence)
            sent.runs.rows[key] = replace(
                a_run(), key=key, status=Status.SENT, window=a_window(), sent_at=NOW
            )
    found = sample(sent, 100)
    readers = {run.key.user_id for run in found.runs}
    assert (len(found.runs), len(readers)) >= (100, 10)


def test_sample_reads_no_more_than_required(sent: FakeSentRuns) -> None:
    """Four parts at once, until a quarter of their runs is enough."""
    found = sample(sent, 10)
    assert sent.asked == list(range(found.read))
    assert found.read % 4 == 0
    assert 10 <= found.runs_seen / 4 < 10 + 20
    assert found.read_units == 0.5 * found.read
    assert found.read < PARTS


def test_sample_reads_no_more_than_allowed(sent: FakeSentRuns) -> None:
    found = sample(sent, 1000, most_parts=6)
    assert (sent.asked, found.read, found.parts) == (list(range(6)), 6, PARTS)


def test_unreadable_runs_are_counted_and_omitted(sent: FakeSentRuns) -> None:
    sent.runs.unreadable = set(list(sent.runs.rows)[:3])
    found = sample(sent, 1000)
    assert (found.unreadable, found.runs_seen, len(found.runs)) == (3, 397, 397)


def test_sample_membership_does_not_depend_on_additional_runs(
    sent: FakeSentRuns,
) -> None:
    before = list(sample(sent, 100).runs)
    kept = {run.key for run in before}
    for key in [key for key in sent.runs.rows if key not in kept][:50]:
        del sent.runs.rows[key]
    assert list(sample(sent, 100).runs) == before


EDITION = Edition("subject", "<p>html</p>", "text", ("comment",), 2)
BLOCKS = (BlockShown("post#1", "One", ("comment", "like")), BlockShown("post#2", "Two", ("like",)))
BEFORE = Rendition(EDITION, BLOCKS)
NOTHING = Rendition(None)


def changed(after: Rendition, before: Rendition = BEFORE) -> set[Change]:
    return set(changes_between(before, after, preheader_of=lambda html: html[:6]))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (BEFORE, set()),
        (replace(BEFORE, edition=replace(EDITION, subject="other")), {Change.SUBJECT}),
        (replace(BEFORE, edition=replace(EDITION, text="other")), {Change.TEXT}),
        (replace(BEFORE, edition=replace(EDITION, html="<p>html!")), {Change.HTML}),
        (
            replace(BEFORE, edition=replace(EDITION, html="<b>other")),
            {Change.HTML, Change.PREHEADER},
        ),
        (replace(BEFORE, blocks=BLOCKS[::-1]), {Change.ORDER}),
        (replace(BEFORE, blocks=BLOCKS[:1]), {Change.BLOCKS}),
        (
            replace(BEFORE, blocks=(replace(BLOCKS[0], lines=("like", "comment")), BLOCKS[1])),
            {Change.LINES},
        ),
        (
            replace(BEFORE, blocks=(replace(BLOCKS[0], key="post#3"), BLOCKS[1])),
            {Change.BLOCKS},
        ),
        (replace(BEFORE, cut=1), {Change.CUT}),
        (replace(BEFORE, excluded=((an_event(), "why"),)), {Change.EXCLUDED}),
        (Rendition(None, failed="why"), {Change.FAILS}),
        (NOTHING, {Change.SKIPPED}),
    ],
)
def test_each_change_is_reported_separately(after: Rendition, expected: set[Change]) -> None:
    assert changed(after) == expected


def test_replay_counts_a_fixed_failure_as_a_change() -> None:
    failed = Rendition(None, failed="why")
    assert changed(failed, failed) == set()
    assert changed(BEFORE, failed) == {Change.MENDED}
    excluded = replace(BEFORE, excluded=((an_event(), "why"),), cut=2)
    assert changed(excluded, excluded) == set()
    assert changed(BEFORE, excluded) == set()


def test_change_that_loses_content_is_listed_first() -> None:
    others = frozenset(set(Change) - BREAKS)
    assert all(weight(frozenset({worst})) > weight(others) for worst in BREAKS)


def test_every_replay_change_type_has_a_weight() -> None:
    assert all(weight(frozenset({change})) > 0 for change in Change)
    assert weight(frozenset()) == 0


def test_sample_of_past_days_excludes_today(sent: FakeSentRuns) -> None:
    found: list[Run] = list(
        take_sample(
            10, since=NOW + timedelta(seconds=1), parts=PARTS, most_parts=PARTS, sent=sent
        ).runs
    )
    assert found == []
