"""Each program behind a `make` target runs to its end, with its smallest bounds.

The other seeds call the functions of a proof. These start its program like the Makefile, so that
they also find faults in its arguments or report.
"""

import subprocess
import sys

import pytest

from demo.engine import ROOT

_WITHIN = 600
"""Seconds. A limit for a program that hangs. Each takes at most 30 on an idle machine."""

PROGRAMS = {
    "experiments": ("proofs.experiments", "--number", "24"),
    "features": ("proofs.features", "--examples", "3", "--no-rules"),
    "fuzz": ("proofs.fuzz", "--examples", "300"),
    "history": ("proofs.history", "--sizes", "10", "100", "--only", "publish for the digest"),
    "model": ("proofs.model", "--policy", "resend", "--first", "1"),
    "arming": ("proofs.arming", "--first", "1"),
    "cap": ("proofs.cap", "--first", "2"),
    "happening": ("proofs.happening", "--first", "1"),
    "mutations": ("proofs.mutations", "--only", "another's claim does not send"),
    "prove": ("proofs.prove", "--on", "fakes", "--every", "2000"),
    "simulate": ("gazette_cli.simulate.published", "--load", "0.02"),
    "state": ("proofs.state", "--examples", "5"),
    "timetravel": ("proofs.timetravel", "--zones", "1", "--subscribers", "30", "--days", "3"),
}
NEEDS_A_STAGE = ("proofs.chaos", "proofs.rollout", "proofs.sources", "demo")
"""Programs whose seeds in `make e2e` run everything except their arguments."""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=_WITHIN,
        check=False,
    )


@pytest.mark.parametrize("target", PROGRAMS)
def test_the_program_of_a_target_runs_to_its_end(target: str) -> None:
    done = run(*PROGRAMS[target])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.strip()
    assert "Traceback" not in done.stderr


def test_make_synthesises_a_stage() -> None:
    done = subprocess.run(
        ["make", "synth", "STAGE=local", f"VENV={sys.prefix}"],  # noqa: S607 -- make is on PATH
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=_WITHIN,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert (ROOT / "build/cdk.out/GazetteLocal.template.json").is_file()


@pytest.mark.parametrize("module", NEEDS_A_STAGE)
def test_a_program_that_needs_a_stage_reads_its_arguments(module: str) -> None:
    done = run(module, "--help")
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("usage: ")
