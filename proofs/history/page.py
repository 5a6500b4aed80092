"""`python -m proofs.history.page`: write the generated section of docs/tables.md from
`proofs.history.stated`.
"""

from collections.abc import Iterator
from pathlib import Path

from proofs.history.stated import BOUNDS, CALLS, GROWS, WORSE

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
BEGIN = "<!-- `make docs` writes this part from proofs/history/stated.py -->"
END = "<!-- up to here, from proofs/history/stated.py -->"


def section() -> str:
    """Return the generated part of the page."""
    return "\n".join((BEGIN, "", *_text(), "", END))


def page(before: str) -> str:
    """Return the page with its generated part updated."""
    start, end = before.index(BEGIN), before.index(END) + len(END)
    return before[:start] + section() + before[end:]


def _text() -> Iterator[str]:
    yield "| use case | calls with ten rows |"
    yield "| --- | --- |"
    yield from (f"| {use} | at most {number} |" for use, number in CALLS.items())
    yield ""
    yield "Only these use cases make more calls as the rows increase, up to the stated bound:"
    yield ""
    yield "| use case | grows with | additional calls for each hundred rows | breakdown |"
    yield "| --- | --- | --- | --- |"
    for each in GROWS:
        bound = BOUNDS.get((each.use, each.kinds[0]))
        until = f"; {bound:,} calls at most" if bound else ""
        yield f"| {each.use} | {', '.join(each.kinds)} | {each.per_hundred} | {each.how}{until} |"
    if WORSE:
        yield ""
        yield "The calls of these use cases still grow without a bound:"
        yield ""
        yield from (f"- {use}: {kind}" for use, kind in WORSE)


def main() -> None:
    """Write the section."""
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main()
