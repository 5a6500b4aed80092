"""The benchmarks start: a stage of theirs has every setting that the functions need."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.bench import stage as stage_module
from benchmarks.bench.generating import generate

pytestmark = pytest.mark.enable_socket


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[stage_module.BenchStage]:
    monkeypatch.setattr(stage_module, "FOLDER", tmp_path)
    with stage_module.stage() as made:
        yield made


@pytest.mark.long
def test_benchmark_compares_gazette_with_the_naive_design(stage: stage_module.BenchStage) -> None:
    ours, naive = generate(stage, 1, events=2, latency={}, batches=1)
    assert ours.counted("ses SendEmail") == naive.counted("ses SendEmail") == 1
    assert len(ours.cpu) == len(naive.cpu) == 1
