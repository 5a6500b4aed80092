"""A benchmark of the CPU time of a cold start, including imports and `build()`.

Each function starts in a new process as deployed, with its handler, the layers with compiled `.pyc`
files, and its settings in the environment. AWS is a loopback server, whose CPU time does not count.
The peer is `naive_handler`. `nothing` measures Python itself, whose time is subtracted from both,
because Lambda has already started Python.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from compileall import compile_dir
from contextlib import contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode
from statistics import median
from sysconfig import get_path
from tempfile import TemporaryDirectory

import botocore

from benchmarks.answering import answering
from gazette_cdk.assets.aws_data import SERVICES, shrink
from gazette_cdk.assets.templates.build import build_templates
from tests.functions.conftest import QUEUES, every_setting

ROOT = Path(__file__).parents[1]
FUNCTIONS = ("generate", "ingest", "preferences")
PEER = "naive"
_NOTHING = "nothing"

_START = "import handler; from gazette.bootstrap.{} import build; build()"
_PROGRAMS = {
    **{function: _START.format(function) for function in FUNCTIONS},
    PEER: "import naive_handler; naive_handler.build()",
    _NOTHING: "pass",
}


def measure(rounds: int) -> dict[str, list[float]]:
    """Return the CPU seconds (user and system) per round, by function and for `naive`.

    Each of them starts once per round, so that other load on the machine affects all of them
    equally.
    """
    took: dict[str, list[float]] = {name: [] for name in _PROGRAMS}
    with deployed() as folder, answering() as aws:
        environment = _environment(aws)
        for number in range(rounds + 1):
            for name, program in _PROGRAMS.items():
                seconds = _cpu(program, folder, name, environment)
                if number:  # the first round fills the caches of the operating system
                    took[name].append(seconds)
    nothing = median(took.pop(_NOTHING))
    return {name: [each - nothing for each in seconds] for name, seconds in took.items()}


def main() -> None:
    """Print a line for each function."""
    parser = argparse.ArgumentParser(description="Measure the CPU time of cold starts.")
    parser.add_argument("--rounds", type=int, default=11)
    rounds = measure(parser.parse_args().rounds)
    took = {name: median(seconds) for name, seconds in rounds.items()}
    for name, seconds in took.items():
        print(f"{name}: {seconds * 1000:.0f} ms, {seconds / took[PEER]:.2f} of {PEER}")


@contextmanager
def deployed() -> Iterator[Path]:
    """Create a folder with the layers as `opt`, and a folder for each function's module.

    The dependencies are those of this environment, except for botocore, which is reduced as in the
    layer.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        layer = ROOT / "layers" / "gazette" / "python" / "gazette"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(layer, folder / "opt" / "gazette", ignore=ignored)
        build_templates(ROOT / "templates", folder / "opt" / "gazette_templates")
        _ship_botocore(folder / "opt" / "botocore")
        for function in FUNCTIONS:
            (folder / function).mkdir()
            shutil.copy(ROOT / "functions" / function / "handler.py", folder / function)
        (folder / PEER).mkdir()
        shutil.copy(Path(__file__).with_name("naive_handler.py"), folder / PEER)
        compile_dir(folder, quiet=1, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
        yield folder


def _ship_botocore(target: Path) -> None:
    source = Path(botocore.__file__).parent
    others = {each.name for each in (source / "data").iterdir() if each.is_dir()} - SERVICES

    def ignored(folder: str, _: list[str]) -> set[str]:
        return others if folder == str(source / "data") else {"__pycache__"}

    shutil.copytree(source, target, ignore=ignored)
    shrink(target / "data")


def _environment(aws: str) -> Mapping[str, str]:
    queues = {name: f"{aws}/queue/{name}" for name in QUEUES}
    secrets = {name: name for name in ("links", "suppressions")}
    settings = {
        name: value
        for each in every_setting(queues, secrets)
        for name, value in each.to_env().items()
    }
    return settings | {
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": aws,
        "AWS_LAMBDA_FUNCTION_NAME": "gazette-bench",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
    }


def _cpu(program: str, folder: Path, name: str, environment: Mapping[str, str]) -> float:
    """Return the CPU seconds of a process that runs `program`, including its start."""
    layers = [] if name == PEER else [str(folder / "opt")]
    path = os.pathsep.join([str(folder / name), *layers, get_path("purelib")])
    process = subprocess.Popen(  # our own programs
        [sys.executable, "-S", "-c", program], env={**environment, "PYTHONPATH": path}
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{name} did not start.")
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
