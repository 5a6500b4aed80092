"""A table of digests and immediate email at several rates, for this and earlier designs."""

import sys

from proofs.pacing.scenarios import BEFORE, DIGESTS, Scenario, play, said


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table. Its last line is a slot of 16,667 digests at 14 emails a second."""
    for name, old in BEFORE.items():
        _say(f"{name}: {said(play(Scenario(quota=14), old=old))}")
    for quota, digests in ((1, 1_000), (500, 300_000)):
        _say(f"SES at {quota}/s: {said(play(Scenario(quota=quota, digests=digests)))}")
    for factor in (0.5, 1.5):
        _say(f"calls take {factor} times as long: {said(play(Scenario(quota=14, slower=factor)))}")
    _say(f"pacing: {said(play(Scenario(quota=14, digests=DIGESTS)))}")


if __name__ == "__main__":
    main()
