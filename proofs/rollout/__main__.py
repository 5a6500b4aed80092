"""`make rollout`, which sends 2,000 digests while template versions are pushed and rolled back.

It fails if an email is a mix of two versions, lost or doubled, or if a change takes over a minute.
"""

import argparse
import signal
import sys
import time

from demo.engine import ROOT, EngineError
from demo.service import ServiceError
from proofs.rollout.run import Rollout, rollout

LONGEST = 70.0
"""Seconds. A process reads once a minute, and may prepare and wait for a permit before a claim."""


def main() -> int:
    """Return 0 only if every reader has one email that is entirely of its run's version."""
    parser = argparse.ArgumentParser(prog="make rollout", description=__doc__)
    parser.add_argument("--digests", type=int, default=2000)
    parser.add_argument("--over", type=int, default=400, help="seconds, at most 900")
    given = parser.parse_args()
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    began = time.monotonic()

    def progress(text: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began:6.1f} s  {text}\n")
        sys.stdout.flush()

    try:
        done = rollout(
            given.digests,
            over=given.over,
            folder=ROOT / "build" / "rollout",
            within=1800,
            progress=progress,
        )
    except (EngineError, ServiceError) as err:
        sys.stderr.write(f"rollout: {err}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("rollout: stopped\n")
        return 130
    return report(done)


def report(done: Rollout) -> int:
    """Print the outcome. Return 1 if a promise was broken or a change took too long, else 0."""
    for problem in done.problems:
        sys.stderr.write(f"rollout: {problem}\n")
    versions = ",".join(f"{number}:{emails}" for number, emails in sorted(done.versions.items()))
    sys.stdout.write(
        f"rollout: digests={done.digests} versions={versions} mixed={done.mixed} "
        f"unlike={done.unlike} repeated={done.repeated} wrong={done.wrong} "
        f"late_s={done.late:.0f} emails={done.emails} lost={done.lost} twice={done.twice} "
        f"seconds={done.seconds:.0f}\n"
    )
    bad = (done.problems, done.mixed, done.unlike, done.wrong, done.lost, done.twice)
    return 1 if any(bad) or done.late > LONGEST else 0


if __name__ == "__main__":
    sys.exit(main())
