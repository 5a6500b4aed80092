"""AWS prices from a file that states the date and the source of each price."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gazette_cli.shared.console import NotPossible

OURS = Path(__file__).parent / "prices.json"


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a unit of an AWS service."""

    # The price of `per` units.
    dollars: float

    per: int
    unit: str

    # The date of the price.
    as_of: str

    # The URL of the price.
    source: str

    note: str = ""

    def of(self, quantity: float) -> float:
        """Return the cost of a quantity, in dollars."""
        return quantity * self.dollars / self.per


@dataclass(frozen=True, slots=True)
class EmailPlan:
    """A price plan of SES."""

    # The fee in dollars per month.
    month: float

    # The tiers by emails per month: the upper limit (None for the last tier), and the price per
    # email.
    emails: tuple[tuple[int | None, float], ...]

    def of(self, emails: float) -> float:
        """Return the cost of a month's emails in dollars, excluding the fee."""
        cost, before = 0.0, 0.0
        for until, price in self.emails:
            end = emails if until is None else min(emails, until)
            cost += max(end - before, 0) * price
            before = end
        return cost


@dataclass(frozen=True, slots=True)
class Prices:
    """The AWS prices of a region."""

    region: str

    # The prices by name.
    of: Mapping[str, Price]

    # The price plans of SES by name.
    plans: Mapping[str, EmailPlan]

    # The date of the prices of SES.
    as_of: str

    # The URL of the prices of SES.
    source: str

    def oldest(self) -> str:
        """Return the date of the oldest price."""
        return min(self.as_of, *(price.as_of for price in self.of.values()))


def read_prices(path: Path = OURS) -> Prices:
    """Read a price file in the format of `prices.json`. Raises NotPossible."""
    try:
        content = json.loads(path.read_text())
        ses = content["ses"]
        return Prices(
            region=content["region"],
            of={name: Price(**price) for name, price in content["prices"].items()},
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
            f"{path} is not a valid price file ({err!r}). Copy {OURS}, and change the prices in "
            "the copy."
        ) from err
