"""What AWS charges: one file, with the date and the source of each price."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cli.shared.console import NotPossible

OURS = Path(__file__).parent / "prices.json"


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for `per` units. `as_of`: a date; `source`: where it was read."""

    dollars: float
    per: int
    unit: str
    as_of: str
    source: str
    note: str = ""

    def of(self, quantity: float) -> float:
        """In dollars."""
        return quantity * self.dollars / self.per


@dataclass(frozen=True, slots=True)
class EmailPlan:
    """Dollars a month, and of each email by how many went before it in that month.

    `emails`: up to which number, and the price; None: without end.
    """

    month: float
    emails: tuple[tuple[int | None, float], ...]

    def of(self, emails: float) -> float:
        """What so many emails of one month cost, in dollars, without the plan itself."""
        cost, before = 0.0, 0.0
        for until, price in self.emails:
            end = emails if until is None else min(emails, until)
            cost += max(end - before, 0) * price
            before = end
        return cost


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of one region. `as_of`: those of the plans of SES, by name."""

    region: str
    of: Mapping[str, Price]
    plans: Mapping[str, EmailPlan]
    as_of: str
    source: str

    def oldest(self) -> str:
        """The date of the oldest price."""
        return min(self.as_of, *(price.as_of for price in self.of.values()))


def read_prices(path: Path = OURS) -> Prices:
    """The prices in a file of the form of `prices.json`. Raises NotPossible."""
    try:
        given = json.loads(path.read_text())
        ses = given["ses"]
        return Prices(
            region=given["region"],
            of={name: Price(**price) for name, price in given["prices"].items()},
            plans={
                name: EmailPlan(
                    plan["month"], tuple((until, each) for until, each in plan["emails"])
                )
                for name, plan in ses["plans"].items()
            },
            as_of=ses["as_of"],
            source=ses["source"],
        )
    except (OSError, ValueError, LookupError, TypeError) as err:
        raise NotPossible(
            f"{path} has no prices that can be read ({err!r}): copy {OURS} and change its figures."
        ) from err
