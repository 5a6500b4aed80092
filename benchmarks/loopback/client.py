"""A client that starts the loopback server, sets its latencies, and counts its requests."""

import json
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Loopback:
    """A running loopback server.

    `environment` redirects all AWS clients of a process to this server.
    """

    url: str

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables with the server's address, and with credentials that have no
        permissions.
        """
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_REGION": "us-east-1",
            "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
        }

    def set_latency(self, **seconds: float) -> None:
        """Set the latency of `dynamodb`, `sqs`, `ses` and `secrets` in seconds."""
        self._control(latency=seconds)

    def take_calls(self) -> Counter[str]:
        """Return the calls since the previous `take_calls`, as `service Operation table`."""
        return Counter(self._control(clear=True))

    def _control(self, **request: object) -> dict[str, int]:
        asked = urllib.request.Request(  # noqa: S310 -- our own server on loopback
            f"{self.url}/control", data=json.dumps(request).encode()
        )
        with urllib.request.urlopen(asked, timeout=10) as answer:  # noqa: S310
            counted: dict[str, int] = json.load(answer)
        return counted


@contextmanager
def loopback() -> Iterator[Loopback]:
    """Run the server, which initially has no tables, in a separate process."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.loopback.server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_ROOT,
        text=True,
    ) as process:
        try:
            port = cast("IO[str]", process.stdout).readline()
            if not port:
                raise RuntimeError("The loopback server ended before it was ready; see its error.")
            yield Loopback(f"http://127.0.0.1:{int(port)}")
        finally:
            end(process)


def end(process: subprocess.Popen[str], seconds: float = 10) -> None:
    """Close the pipes of a process, so that it ends. Kill it if it does not end in time."""
    with suppress(OSError):  # a process that died has not read all of its input
        cast("IO[str]", process.stdin).close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    cast("IO[str]", process.stdout).close()
