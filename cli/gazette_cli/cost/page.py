"""`python -m gazette_cli.cost.page`: update the estimated costs in docs/tables.md and README.md."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gazette_cdk.concurrency import sending, sending_memory
from gazette_cdk.folders import GAZETTE
from gazette_cli.cost.assumptions import AN_INDEX_ENTRY, MONTH
from gazette_cli.cost.bill import Line, bill
from gazette_cli.cost.command import sums
from gazette_cli.cost.prices import Prices, read_prices
from gazette_cli.cost.usage import Usage, default_rate, digests_at, reports_together

PAGE, README = GAZETTE / "docs" / "tables.md", GAZETTE / "README.md"
BEGIN, END = "<!-- `make docs` writes this part -->", "<!-- up to here -->"

MILLION = Usage(readers=1_000_000 / 30, events=10, digests=1, listed=100, signs=0, days=30)
"""A month with one million digests of ten events each, and no activity events."""

ALONE = replace(MILLION, listed=1)
"""The usage of `MILLION`, except that services publish each event individually."""

REST = Usage(readers=1, events=0, digests=0, signs=0)
"""A month of a stage with one reader who gets no events."""

_IN_THE_README = re.compile(
    r"(each cost \$)\d+( in AWS, excluding SES, .+?, and \$)\d+( if they publish)", re.DOTALL
)

_REST_IN_THE_README = re.compile(r"(An idle stage costs \$)\d+( a month)")

_PARTS = ("writes", "reads", "storage", "recovery")


def at_quota(quota: float, usage: Usage = MILLION) -> Usage:
    """Return the usage in an account with another quota, in emails per second."""
    rate = default_rate(quota)
    return replace(
        usage,
        digests_sent=digests_at(rate, sending(rate)),
        generate_memory=sending_memory(rate),
        reports_together=reports_together(rate),
    )


_SETTINGS: Sequence[tuple[str, Usage]] = (
    ("`report_deliveries` false", replace(MILLION, report_deliveries=False)),
    ("`restorable` without `runs`", replace(MILLION, restorable=())),
    ("`restorable` with `events`", replace(MILLION, restorable=("runs", "events"))),
    ("`category_hold` false", replace(MILLION, category_hold=False)),
    ("250 emails per second instead of 14", at_quota(250)),
    ("1 email per second instead of 14", at_quota(1)),
    (
        "one message per invocation of ingest and feedback",
        replace(MILLION, together=1, reports_together=1),
    ),
    ("events of 1,200 bytes instead of 400", replace(MILLION, size=1200)),
    ("a day without events before each digest", replace(MILLION, quiet=1)),
)

_LIVES = (("daily", 39, 39), ("weekly", 45, 45), ("monthly", 79, 110))
"""The minimum and maximum retention of an event in days, for each kind of schedule."""


def dollars(usage: Usage) -> float:
    """Return the cost in dollars of one million emails, excluding SES and fixed items."""
    return sums(bill(usage, read_prices()))["grows"] / usage.emails * 1e6


def section() -> str:
    """Return the generated cost section of docs/tables.md."""
    return "\n".join((BEGIN, "", *_text(read_prices()), "", END))


def page(before: str) -> str:
    """Return docs/tables.md with its generated section updated."""
    start, end = before.index(BEGIN), before.index(END) + len(END)
    return before[:start] + section() + before[end:]


def readme(before: str) -> str:
    """Return the README with its three cost figures updated. Raises ValueError if a sentence with
    figures is missing.
    """
    lists, alone = f"{dollars(MILLION):.0f}", f"{dollars(ALONE):.0f}"
    after, number = _IN_THE_README.subn(rf"\g<1>{lists}\g<2>{alone}\g<3>", before)
    if number != 1:
        raise ValueError("README.md must state the cost of a million digests exactly once.")
    rest = f"{sums(bill(REST, read_prices()))['total']:.0f}"
    after, number = _REST_IN_THE_README.subn(rf"\g<1>{rest}\g<2>", after)
    if number != 1:
        raise ValueError("README.md must state the cost of an idle stage exactly once.")
    return after


def _text(prices: Prices) -> Iterator[str]:
    lists, alone = bill(MILLION, prices), bill(ALONE, prices)
    yield (
        f"This table shows the cost of a million daily digests in {prices.region}, with the "
        f"default settings. Each digest has {MILLION.in_a_digest:.0f} events of {MILLION.size} "
        "bytes in one category. Free tiers and taxes are excluded. `gazette cost` computes the "
        "cost of your own usage. `cli/gazette_cli/cost/prices.json` contains the date and source "
        f"of every price. The oldest price dates from {prices.oldest()}. Tests measure the "
        "DynamoDB units. Function durations, messages per invocation and log sizes are assumptions "
        "(`cli/gazette_cli/cost/assumptions.py`). A stage without `emails_per_second` is "
        "sized for 14 emails per second, and an invocation sends ten digests."
    )
    yield ""
    yield "| | events published in lists of 100 | events published individually |"
    yield "| --- | --- | --- |"
    for part in _parts(lists):
        yield f"| {part} | {_sum_of(lists, part)} | {_sum_of(alone, part)} |"
    grow = f"${dollars(MILLION):.2f} | ${dollars(ALONE):.2f}"
    yield f"| **total variable cost** | {grow} |"
    for plan in ("none", "essentials"):
        cost = prices.plans[plan].of(1_000_000)
        name = "without a plan" if plan == "none" else f"plan {plan.capitalize()}"
        yield f"| SES, {name} | ${cost:.2f} | ${cost:.2f} |"
    fixed, rest = sums(lists)["fixed"], sums(bill(REST, prices))["total"]
    alone_fixed = sums(alone)["fixed"]
    yield f"| fixed cost per stage and month | ${fixed:.2f} | ${alone_fixed:.2f} |"
    yield ""
    yield (
        "The fixed costs are for metrics, alarms, two secrets, ticks, and Lambda's polling of "
        f"eight queues. A stage at rest costs ${rest:.2f} a month, because it writes only the "
        "metrics of ticks and sweeps. The two dashboards are free if the account has at most one "
        "other; each further one costs $3 a month. People look at them 20 times a day. "
        "The storage costs cover each row until it expires."
    )
    yield ""
    yield "| change | effect on the cost of a million digests (events published in lists) |"
    yield "| --- | --- |"
    for name, usage in _SETTINGS:
        yield f"| {name} | {dollars(usage) - dollars(MILLION):+.2f} dollars |"
    yield ""
    yield from _stored(prices)


def _parts(lines: Sequence[Line]) -> list[str]:
    parts = dict.fromkeys(_part(line) for line in lines if _counts(line))
    return [part for part in parts if any(_part(x) == part and x.dollars for x in lines)]


def _counts(line: Line) -> bool:
    return line.item.service != "SES" and not line.item.fixed


def _part(line: Line) -> str:
    kind = line.item.what.partition(":")[0]
    return f"{line.item.service}, {kind}" if kind in _PARTS else line.item.service


def _sum_of(lines: Sequence[Line], part: str) -> str:
    total = sum(line.dollars for line in lines if _counts(line) and _part(line) == part)
    return f"${total:.2f}"


def _stored(prices: Prices) -> Iterator[str]:
    each = 2 * (MILLION.row + AN_INDEX_ENTRY)
    month = prices.of["dynamodb.storage"].of(each * 1e6 / 1e9)
    yield (
        f"A million of these events and their index entries use {each * 1e6 / 1e9:.1f} GB, which "
        f"costs ${month:.2f} per month. Each index entry has {AN_INDEX_ENTRY} additional bytes. "
        "Storing a million events until they expire costs "
        + ", ".join(_life(month, *life) for life in _LIVES)
        + f", and at most {_cost(month, 196)} if the reader pauses email."
    )
    yield ""
    unit = prices.of["dynamodb.writes"].of(1e6)
    email = prices.plans["none"].of(1_000_000)
    share = 100 * unit / email
    yield (
        "Without click and open tracking, recording the outcome of an email costs two write "
        f"units (sent and delivered). That is {2 * share:.2f} percent of the SES price of the "
        f"email. Each category in the email costs at most one more unit ({share:.3f} percent), "
        "because the emails of an invocation share the write. Each tracked click or open costs "
        "one more unit."
    )


def _life(month: float, name: str, least: int, most: int) -> str:
    span = (
        _cost(month, least) if least == most else f"{_cost(month, least)} to {_cost(month, most)}"
    )
    return f"{span} for a {name} digest"


def _cost(month: float, days: int) -> str:
    return f"${month * days / MONTH:.2f}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
    README.write_text(readme(README.read_text()))
