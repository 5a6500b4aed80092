"""What `make slot` concludes from runs, emails and processes, and proof that it can fail."""

from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest
from gazette.domain.delivery.batch import Batch
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.scheduling.calendar import slot_of

from benchmarks.reckoning import Stored, reckon
from benchmarks.stored import batch_problems
from benchmarks.workers import NoMemory, Workers
from demo.ses import Accepted
from gazette_support.steps.batches import BatchView
from tests.builders import NOW

LINKS = {"ann": "https://example.com/posts/1/", "bo": "https://example.com/posts/2/"}
RUNS = [Stored("ann", "sent"), Stored("bo", "sent")]


def an_email(user_id: str, *, link: str = "", sequence: int = 1) -> Accepted:
    message = EmailMessage()
    message.set_content(f"1 new comment from Bo\n{link or LINKS[user_id]}\n")
    tags = {"run": f"{user_id}-daily-{sequence}", "attempt": "1"}
    return Accepted("m1", f"{user_id}@example.com", tags, message)


EMAILS = [an_email("ann"), an_email("bo")]


def test_one_run_and_one_email_per_reader_passes() -> None:
    found = reckon(LINKS, RUNS, EMAILS)
    assert found.problems == []
    assert (found.runs, found.sent, found.emails, found.duplicates, found.lost) == (2, 2, 2, 0, 0)


@pytest.mark.parametrize(
    ("runs", "emails", "duplicates", "lost", "problems"),
    [
        (RUNS[:1], EMAILS[:1], 0, 1, ["bo has no run", "bo has no email with their event"]),
        (
            [*RUNS[:1], Stored("bo", "pending")],
            EMAILS[:1],
            0,
            1,
            ["bo has a run that was not sent", "bo has no email with their event"],
        ),
        (
            RUNS,
            [*EMAILS, EMAILS[1]],
            1,
            0,
            ["bo has more than one email", "bo-daily-1 was accepted more than once"],
        ),
        (
            [*RUNS, RUNS[1]],
            [*EMAILS, an_email("bo", sequence=2)],
            2,
            0,
            ["bo has more than one run", "bo has more than one email"],
        ),
        (
            RUNS,
            [EMAILS[0], an_email("bo", link=LINKS["ann"])],
            0,
            1,
            ["bo has no email with their event"],
        ),
        (
            RUNS,
            [EMAILS[0], replace(EMAILS[1], to="ann@example.com")],
            0,
            1,
            ["bo has no email with their event"],
        ),
        (
            RUNS,
            [*EMAILS, an_email("eve", link=LINKS["bo"])],
            0,
            0,
            ["eve has an email without an event"],
        ),
    ],
)
def test_lost_duplicated_and_misdirected_emails_are_detected(
    runs: list[Stored], emails: list[Accepted], duplicates: int, lost: int, problems: list[str]
) -> None:
    found = reckon(LINKS, runs, emails)
    assert (found.duplicates, found.lost) == (duplicates, lost)
    assert sorted(found.problems) == sorted(f"{each}, as 1 in all" for each in problems)


def a_view(*, not_started: int = 0, **counts: int) -> BatchView:
    reasons = {Status.SENT: Reason.ACCEPTED, Status.PENDING: Reason.DUE}
    statuses = {Status(name): number for name, number in counts.items()}
    return BatchView(
        batch=Batch(slot_of(NOW)),
        not_started=not_started,
        counts={(status, reasons[status]): number for status, number in statuses.items()},
        looked_at=NOW,
    )


def test_batch_must_count_every_reader_as_sent() -> None:
    assert batch_problems(a_view(sent=2), 2) == []
    for wrong in (a_view(sent=1), a_view(sent=2, not_started=1), a_view(sent=2, pending=1)):
        assert len(batch_problems(wrong, 2)) == 1
    assert batch_problems(a_view(sent=1, pending=1), 2) == [
        "the batch counts {'sent (accepted)': 1, 'pending (due)': 1}, and 0 that were not started"
    ]


def an_engine(folder: Path, number: int) -> None:
    (folder / "self").mkdir()
    (folder / "self" / "status").touch()
    (folder / str(number)).mkdir()
    (folder / str(number) / "cwd").symlink_to(f"/engine-{number}")


def a_process(
    folder: Path, number: int, name: str, peak: int, *, engine: int = 7, status: str = ""
) -> None:
    process = folder / str(number)
    process.mkdir()
    (process / "cwd").symlink_to(f"/engine-{engine}/ministack-lambda-{name}-x1y/code")
    status = status or f"Name:\tpython\nVmHWM:\t  {peak} kB\n"
    (process / "status").write_text(status)


def test_peak_memory_covers_only_workers_of_the_function(tmp_path: Path) -> None:
    a_process(tmp_path, 11, "gazette-local-fanout", 61440)
    a_process(tmp_path, 12, "gazette-local-fanout", 65536)
    a_process(tmp_path, 13, "gazette-local-generate", 99999)
    a_process(tmp_path, 14, "gazette-local-fanout", 99999, engine=8)
    a_process(tmp_path, 15, "gazette-local-fanout", 0, status="Name:\tpython\n")
    an_engine(tmp_path, 7)
    workers = Workers(7, "gazette-local-fanout", tmp_path)
    with pytest.raises(NoMemory, match="no worker of gazette-local-fanout"):
        workers.peak_mb  # noqa: B018 -- it raises
    workers.look()
    assert workers.peak_mb == 64
    assert workers.peaks.keys() == {11, 12}


def test_peak_memory_includes_ended_workers(tmp_path: Path) -> None:
    an_engine(tmp_path, 7)
    a_process(tmp_path, 11, "gazette-local-fanout", 65536)
    workers = Workers(7, "gazette-local-fanout", tmp_path)
    workers.look()
    for file in (tmp_path / "11").iterdir():
        file.unlink()
    workers.look()
    assert workers.peak_mb == 64


def test_missing_memory_information_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NoMemory, match="run this on Linux"):
        Workers(7, "gazette-local-fanout", tmp_path).look()
