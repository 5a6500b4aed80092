"""A seed of `make chaos`, on a small slot."""

from pathlib import Path

import pytest

from proofs.chaos.__main__ import report
from proofs.chaos.run import chaos

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]


def test_workers_that_are_killed_lose_nothing_and_send_nothing_twice(tmp_path: Path) -> None:
    said: list[str] = []
    done = chaos(80, every=0.6, kills=12, seed=7, folder=tmp_path, within=420, progress=said.append)
    assert done.problems == []
    assert (done.emails, done.lost, done.twice) == (80, 0, 0)
    assert done.kills.total() >= 12
    assert report(done) == 0
