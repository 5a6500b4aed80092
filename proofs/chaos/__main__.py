"""`make chaos`, which sends 2,000 digests while their workers are killed, and counts the emails."""

import argparse
import signal
import sys
import time

from demo.engine import ROOT, EngineError
from demo.service import ServiceError
from proofs.chaos.run import Chaos, chaos


def main() -> int:
    """Return 0 only if every reader has exactly one email with the reader's own event."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--digests", type=int, default=2000)
    parser.add_argument("--every", type=float, default=1.6, help="seconds between two kills")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    began = time.monotonic()

    def progress(text: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began:6.1f} s  {text}\n")
        sys.stdout.flush()

    try:
        done = chaos(
            given.digests,
            every=given.every,
            seed=given.seed,
            folder=ROOT / "build" / "chaos",
            within=1800,
            progress=progress,
        )
    except (EngineError, ServiceError) as err:
        sys.stderr.write(f"chaos: {err}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("chaos: stopped\n")
        return 130
    return report(done)


def report(done: Chaos) -> int:
    """Print the outcome. Return 1 if a promise was broken, else 0."""
    for problem in done.problems:
        sys.stderr.write(f"chaos: {problem}\n")
    sys.stdout.write(
        f"chaos: digests={done.digests} kills={done.kills.total()} redriven={done.redriven} "
        f"unknown={done.unknown} evidence={done.evidence} resent={done.resent} "
        f"canaries={done.canaries} emails={done.emails} lost={done.lost} "
        f"twice={done.twice} seconds={done.seconds:.0f}\n"
    )
    return 1 if done.problems or done.lost or done.twice else 0


if __name__ == "__main__":
    sys.exit(main())
