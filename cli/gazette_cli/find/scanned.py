"""Scan a table after the operator has seen the cost and confirmed."""

from collections.abc import Sequence

from rich.console import Console
from rich.progress import Progress

from gazette_cli.cost.prices import read_prices
from gazette_cli.find.scan import Condition, scan, size_of
from gazette_cli.shared.answers import confirm


def scanned(
    table: str,
    condition: Condition,
    *,
    shown: Sequence[str],
    yes: bool,
    most: int | None = None,
) -> list[dict[str, str]]:
    """Scan a table after confirmation."""
    size = size_of(table)
    if not yes:
        prices = read_prices()
        dollars = prices.of["dynamodb.reads"].of(size.read_units)
        confirm(
            f"Read all {size.rows:,} rows of {table} ({size.size / 1e6:,.0f} MB) for "
            f"${dollars:.4f} in {prices.region}?"
        )
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=size.rows or None)
        rows = scan(
            table,
            condition,
            shown=shown,
            most=most,
            progress=lambda number: bar.advance(task, number),
        )
    return [dict(row) for row in rows]
