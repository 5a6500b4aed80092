"""A seed of `make rollout`: fewer digests, in less time."""

from pathlib import Path

import pytest

from proofs.rollout.__main__ import report
from proofs.rollout.run import rollout

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]


def test_versions_that_come_and_go_mix_no_email_and_lose_none(tmp_path: Path) -> None:
    said: list[str] = []
    done = rollout(150, over=120, folder=tmp_path, within=420, progress=said.append)
    assert done.problems == []
    assert (done.mixed, done.unlike, done.wrong) == (0, 0, 0)
    assert (done.emails, done.lost, done.twice) == (150, 0, 0)
    assert done.repeated
    assert len(done.versions) > 1
    assert report(done) == 0
