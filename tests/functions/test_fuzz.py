"""A short seed of `make fuzz`: nothing that a service puts is lost, and nothing raises."""

import pytest
from gazette.bootstrap.ingest import build

from proofs.fuzz.__main__ import run


def test_any_published_input_is_stored_or_quarantined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.ingest.handler.build", build)
    tally = run(300)
    assert tally.examples >= 300
    assert (tally.lost, tally.raised) == (0, 0), "\n\n".join(tally.batches)
    assert tally.stored > 30
    assert tally.quarantined > 30
