"""The figures of the replayed day and week, and the pages that state them."""

from collections.abc import Iterator

import pytest

from demo import campus
from demo.engine import ROOT


def shares(days: int) -> tuple[int, int, int]:
    """Return the messages, the registered readers, and the digests: one a day for each reader."""
    some = [message for message in campus.messages() if message.day < days]
    return len(some), len(campus.registered(days)), len({(each.target, each.day) for each in some})


def pages() -> Iterator[tuple[str, str]]:
    """Yield the sentence of README and the row of the table in docs/testing.md, for each replay."""
    readme = " ".join((ROOT / "README.md").read_text().split())
    testing = (ROOT / "docs" / "testing.md").read_text()
    for command, verb in (("`make demo`:", "a real day: "), ("`make demo WEEK=1`:", "4 minutes: ")):
        sentence = readme.partition(verb)[2].partition("digests")[0]
        row = testing.partition(f"| {command}")[2].partition("\n")[0]
        yield sentence, row


def test_a_day_registers_the_students_who_wrote_or_received_a_message() -> None:
    assert shares(1) == (1_504, 404, 354)
    day = [message for message in campus.messages() if message.day == 0]
    writers_and_readers = {each.source for each in day} | {each.target for each in day}
    assert campus.registered(1) == sorted(writers_and_readers)


def test_the_week_registers_every_student() -> None:
    assert shares(campus.DAYS) == (11_353, campus.STUDENTS, 2_416)


@pytest.mark.parametrize(("days", "at"), [(1, 0), (campus.DAYS, 1)])
def test_pages_state_the_figures_of_the_replay(days: int, at: int) -> None:
    sentence, row = [*pages()][at]
    for figure in shares(days):
        assert f"{figure:,}" in sentence
        assert f"{figure:,}" in row
