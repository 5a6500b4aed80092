"""The functions of one stage in separate processes, with the loopback server in place of AWS."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import boto3
from gazette.settings.ranges import RANGES

from benchmarks.bench.naive import NaiveEvent, NaiveReader
from benchmarks.loopback.client import Loopback, end, loopback
from gazette_cdk.assets.templates.build import build_templates
from tests.functions.conftest import QUEUES, every_setting
from tests.moto_tables import NAMES, table_definitions

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "bench"

_ENDING = 10
"""The number of seconds to wait for the end of a process that has closed its output."""


@dataclass(frozen=True, slots=True)
class Took:
    """The measurement of one invocation: CPU and wall-clock seconds, and bytes logged."""

    cpu: float
    wall: float
    logged: int
    answer: Any


class Process:
    """A warm process of a function."""

    def __init__(self, module: str, environment: Mapping[str, str]) -> None:
        log = FOLDER / f"{module}.log"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.bench.worker", module, str(log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(environment),
            cwd=ROOT,
            text=True,
        )
        self._requests = cast("IO[str]", self._process.stdin)
        self._replies = cast("IO[str]", self._process.stdout)

    def invoke(self, event: dict[str, Any]) -> Took:
        """Invoke the function once."""
        return Took(**self._asked(event))

    def profile(self, event: dict[str, Any]) -> dict[str, float]:
        """Invoke the function once. Return the CPU seconds by package, in descending order."""
        found: dict[str, float] = self._asked({"profiled": event})["profile"]
        return found

    def _asked(self, event: dict[str, Any]) -> dict[str, Any]:
        self._requests.write(json.dumps(event) + "\n")
        self._requests.flush()
        line = self._replies.readline()
        if not line:
            with suppress(subprocess.TimeoutExpired):  # its other pipe may close a little later
                self._process.wait(_ENDING)
            raise RuntimeError(f"{self._process.args!r} ended: see what it wrote above.")
        answer: dict[str, Any] = json.loads(line)
        return answer

    @property
    def has_ended(self) -> bool:
        """True if the process has ended and cannot be invoked."""
        return self._process.poll() is not None

    def end(self) -> None:
        """End the process, and kill it if it does not end in time."""
        end(self._process)


@dataclass
class BenchStage:
    """A stage with empty tables and a process for each function.

    Closing the stage ends the processes.
    """

    aws: Loopback
    environment: dict[str, str]
    _processes: dict[str, Process] = field(default_factory=dict)
    _readers: int = 0

    def take_readers(self, count: int) -> int:
        """Reserve `count` reader numbers, and return the first."""
        self._readers += count
        return self._readers - count

    def process(self, module: str) -> Process:
        """Return the process of a handler's module.

        Start the process at the first use. If it has ended, start it again, so that a crash in one
        part does not affect the next part.
        """
        running = self._processes.get(module)
        if running is not None and running.has_ended:
            running.end()
        if running is None or running.has_ended:
            self._processes[module] = Process(module, self.environment)
        return self._processes[module]

    def close(self) -> None:
        """End the processes."""
        for each in self._processes.values():
            each.end()


@contextmanager
def stage() -> Iterator[BenchStage]:
    """Start a stage with the same settings as a deployed stage, but with unlimited permits."""
    layer = FOLDER / "layer"
    shutil.rmtree(layer, ignore_errors=True)
    build_templates(ROOT / "templates", layer / "gazette_templates")
    with loopback() as aws:
        _create_tables(aws)
        made = BenchStage(aws, {**_inherited(), **aws.environment, **_settings(), **_path(layer)})
        try:
            yield made
        finally:
            made.close()


def _inherited() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}


def _path(layer: Path) -> dict[str, str]:
    package = ROOT / "layers" / "gazette" / "python"
    return {"PYTHONPATH": os.pathsep.join(map(str, (package, layer, ROOT)))}


def _settings() -> dict[str, str]:
    queues = {name: f"https://sqs.us-east-1.amazonaws.com/1/{name}" for name in QUEUES}
    secrets = {name: name for name in ("links", "suppressions")}
    variables: dict[str, str] = {}
    for settings in every_setting(queues, secrets):
        variables.update(settings.to_env())
    fastest = RANGES["emails_per_second"].most
    return {**variables, "GAZETTE_EMAILS_PER_SECOND": str(fastest)}


def _create_tables(aws: Loopback) -> None:
    client: Any = boto3.client(
        "dynamodb",
        endpoint_url=aws.url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 -- opens nothing
    )
    for definition in table_definitions(
        {**NAMES, NaiveReader: "naive_readers", NaiveEvent: "naive_events"}
    ):
        client.create_table(**definition)
