"""The command `python -m benchmarks.bench.worker MODULE LOG`, which invokes a module's handler as
Lambda does.

Each line of standard input is an event as JSON. Each line of standard output describes one
invocation: the `cpu` and `wall` seconds, the bytes `logged` to LOG, which CloudWatch would ingest,
and the `answer`. An event in `profiled` runs under a profiler, and its output is only the
`profile`.

If the system supports it, the process is limited to one CPU. On two CPUs, threads would pass the
interpreter lock back and forth and use a third more CPU time.
"""

import json
import os
import sys
import time
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.bench.profiling import profiled


class Context:
    """A stand-in for the Lambda context, with one minute remaining."""

    function_name = "bench"
    memory_limit_in_mb = 1769
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:bench"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        """Return a constant remaining time."""
        return 60_000


def main() -> int:
    """Invoke the handler until standard input ends."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    reply = os.fdopen(os.dup(1), "w", buffering=1)
    log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(log, 1)
    handler = import_module(sys.argv[1]).lambda_handler
    for line in sys.stdin:
        reply.write(json.dumps(_invoked(handler, json.loads(line))) + "\n")
    return 0


def _invoked(handler: Any, event: dict[str, Any]) -> dict[str, Any]:
    if "profiled" in event:
        return {"profile": profiled(partial(handler, event["profiled"], Context()))}
    before, cpu, wall = os.lseek(1, 0, os.SEEK_CUR), time.process_time(), time.perf_counter()
    answer = handler(event, Context())
    took = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    sys.stdout.flush()
    return took | {"logged": os.lseek(1, 0, os.SEEK_CUR) - before, "answer": answer}


if __name__ == "__main__":
    sys.exit(main())
