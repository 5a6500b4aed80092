"""The metric of the time to render an email."""

from contextlib import suppress
from datetime import timedelta

import pytest
from gazette import run_metrics


def test_failed_rendering_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[tuple[str, timedelta]] = []
    ticks = iter([7.0, 7.25, 8.0, 8.5])
    monkeypatch.setattr(run_metrics, "thread_time", lambda: next(ticks))
    monkeypatch.setattr(run_metrics, "measure_milliseconds", lambda *told: measured.append(told))
    with suppress(ArithmeticError), run_metrics.measured_rendering():
        raise ArithmeticError
    with run_metrics.measured_rendering():
        pass
    assert measured == [("render_time", timedelta(milliseconds=750))]
