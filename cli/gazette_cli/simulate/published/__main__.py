"""Print the figures of the published case."""

import argparse
import sys

from gazette_cli.simulate.published.table import LOAD, play, rows


def main() -> None:
    """Print the Markdown tables of docs/forecast.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--load", type=float, default=LOAD, help="The load as a share of one queue's limit."
    )
    played = play(load=parser.parse_args().load)
    sys.stdout.write("| | published | simulated | explanation |\n| --- | --- | --- | --- |\n")
    for row in rows(played):
        sys.stdout.write(f"| {row.what} | {row.published} | {row.simulated} | {row.why} |\n")
    sys.stdout.write("\n| design | maximum digests a day | generation events a day |")
    sys.stdout.write(" requests in the busiest second | scaling actions a day |")
    sys.stdout.write(" seconds overloaded a day | timed out |\n")
    sys.stdout.write(f"|{' --- |' * 7}\n")
    for each in played:
        service = each.seen.service
        sys.stdout.write(
            f"| {each.design.name} | {each.capacity:,} | {each.generated:,.0f} | "
            f"{each.asked_at_most} | {each.acts:.0f} | {service.overloaded / each.days:,.0f} | "
            f"{100 * service.failed / max(1, service.total):.1f} % |\n"
        )


if __name__ == "__main__":
    main()
