"""Short versions of `python -m proofs.redrives`."""

import pytest

from proofs.redrives.person import redrive_all


@pytest.mark.parametrize("outage", [1, 2, 3])
def test_redrive_that_is_killed_loses_no_message_and_sends_each_email_once(outage: int) -> None:
    report = redrive_all(600, outage)
    assert report.broken == []
    assert report.emails == report.runs_due
    assert report.kills["between send and delete"] > 0
    assert report.repeated > 0
    assert report.returned > 0


def test_redrive_of_5000_dead_letters_loses_no_message_and_sends_each_email_once() -> None:
    report = redrive_all(3600, 5)
    assert report.broken == []
    assert report.letters >= 5000
    assert report.emails == report.runs_due >= 2500
