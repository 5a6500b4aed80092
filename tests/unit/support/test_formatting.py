"""The progress of a batch: its rate, and the time left."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.batch import Batch
from gazette.domain.delivery.circuit_breaker import OpenBreaker, opened_by_hand, tripped
from gazette.domain.delivery.pace import EVER, PaceReading, Quota
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.scheduling.calendar import slot_of
from rich.console import Console

from gazette_cli.batches.views import BatchProgress, listing, state_in_words
from gazette_cli.shared.console import printable
from gazette_cli.shared.pace import pace_text, stopped_text
from gazette_support.steps.batches import BatchView
from tests.builders import NOW

PACE = PaceReading(
    rate=20, full_rate=50, taken=7, cap=None, quota=None, free_since=EVER, breaker=None
)
BEGAN = NOW - timedelta(seconds=100)


def view(sent: int, pending: int, *, not_started: int = 0, seconds: int = 0) -> BatchView:
    """So many seconds from now."""
    counts = {(Status.SENT, Reason.ACCEPTED): sent, (Status.PENDING, Reason.DUE): pending}
    return BatchView(
        Batch(slot_of(NOW), started_at=BEGAN),
        not_started,
        {key: number for key, number in counts.items() if number},
        NOW + timedelta(seconds=seconds),
    )


def test_first_rate_is_the_average_since_the_start_of_the_batch() -> None:
    sight = BatchProgress.first(view(400, 100), PACE)
    assert (sight.per_second, sight.left) == (4, timedelta(seconds=25))


def test_next_rate_is_the_average_since_the_last_reading() -> None:
    sight = BatchProgress.first(view(400, 100), PACE).then(
        view(420, 70, not_started=10, seconds=2), PACE
    )
    assert (sight.per_second, sight.left) == (10, timedelta(seconds=8))


def test_stalled_batch_has_no_estimated_time() -> None:
    sight = BatchProgress.first(view(0, 100), PACE)
    assert (sight.per_second, sight.left) == (0, None)
    to_come = replace(view(0, 0, not_started=5), batch=Batch(slot_of(NOW)))
    assert BatchProgress.first(to_come, PACE).per_second is None
    assert ("left", "?") in BatchProgress.first(to_come, PACE).lines()


def test_finished_batch_has_no_remaining_time() -> None:
    sight = BatchProgress.first(view(500, 0), PACE)
    assert sight.left is None
    assert "left" not in dict(line[:2] for line in sight.lines() if len(line) == 2)


@pytest.mark.parametrize(
    ("pace", "said"),
    [
        (PACE, "at most 20 of 50 emails per second; 7 today (UTC)"),
        (replace(PACE, rate=50), "at most 50 emails per second; 7 today (UTC)"),
        (
            replace(PACE, rate=1.5, full_rate=1.5, cap=200),
            "at most 1.5 emails per second; 7 of 200, the cap of a new sending domain today (UTC)",
        ),
        (
            replace(PACE, rate=50, quota=Quota(rate=50, daily=50_000, left=38_766)),
            (
                "at most 50 emails per second; 7 today (UTC); 38,766 of its share of the account's "
                "50,000 per 24 hours remain"
            ),
        ),
        (
            replace(PACE, breaker=tripped(None, "SendingPaused", NOW)),
            (
                "at most 20 of 50 emails per second; 7 today (UTC); stopped automatically "
                "since 2026-11-22 07:03:00 UTC (SendingPaused); next email: a test email at "
                "2026-11-22 07:04:00 UTC or later"
            ),
        ),
    ],
)
def test_rate_is_shown_with_ramp_up_cap_and_stop_reason(pace: PaceReading, said: str) -> None:
    assert pace_text(pace) == said


@pytest.mark.parametrize(
    ("breaker", "said"),
    [
        (
            tripped(None, "", NOW).probed(NOW + timedelta(minutes=1)),
            (
                "stopped automatically since 2026-11-22 07:03:00 UTC; next email: a test email is "
                "being sent now (next test email at 2026-11-22 07:05:00 UTC or later)"
            ),
        ),
        (
            opened_by_hand("wrong\ttemplate\x1b[2J", NOW),
            (
                "stopped manually since 2026-11-22 07:03:00 UTC (wrong?template?[2J); next email: "
                "none until you resume sending"
            ),
        ),
    ],
)
def test_stop_is_shown_with_its_reason_and_next_attempt(breaker: OpenBreaker, said: str) -> None:
    assert stopped_text(breaker) == said


def test_batch_state_is_described_in_two_words_at_most() -> None:
    under_way = view(1, 1)
    assert state_in_words(under_way) == "under way"
    assert state_in_words(view(1, 0)) == "over"
    assert state_in_words(replace(under_way, batch=Batch(slot_of(NOW)))) == "to come"
    assert state_in_words(replace(under_way, batch=Batch(slot_of(NOW), cancelled_at=NOW))) == (
        "cancelled at 07:03:00 UTC"
    )


def test_batch_list_row_counts_each_run_once() -> None:
    counts = {
        (Status.PENDING, Reason.DUE): 1,
        (Status.RETRYING, Reason.REFUSED_FOR_NOW): 2,
        (Status.UNKNOWN, Reason.UNCERTAIN): 4,
        (Status.SENT, Reason.ACCEPTED): 8,
        (Status.SENT, Reason.EVIDENCE): 16,
        (Status.FAILED, Reason.REFUSED_FOR_GOOD): 32,
        (Status.SKIPPED, Reason.EMPTY): 64,
        (Status.CANCELLED, Reason.BATCH_CANCELLED): 128,
    }
    seen = BatchView(Batch(slot_of(NOW), BEGAN), 256, counts, NOW)
    assert listing([seen]).lines[0][2:] == ("511", "259", "24", "64", "32", "128", "4")
    assert seen.ended == 8 + 16 + 32 + 64 + 128


def test_terminal_shows_a_progress_bar_and_every_reason() -> None:
    console = Console(width=100)
    with console.capture() as shown:
        console.print(BatchProgress.first(view(400, 100, not_started=9), PACE).picture())
    for said in (
        "400 of 509",
        "4.0 per second",
        "0:00:28 left",
        "accepted",
        "not started",
        "at most 20",
    ):
        assert said in shown.get()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jann\r\n", "?[2Jann??"),
        ("ann\u202emoc.elpmaxe", "ann?moc.elpmaxe"),
        ("a\u2066n\u2069n", "a?n?n"),
        ("an\u200bn\ufeff", "an?n?"),
        ("ann\u3164\u2800", "ann??"),
        ("ann\u2028\ud800", "ann??"),
        ("Zoë 李 👋", "Zoë 李 👋"),
    ],
)
def test_attack_control_and_invisible_characters_are_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
