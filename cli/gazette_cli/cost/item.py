"""A line item of the estimated bill."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """A line item of the bill, with its quantity."""

    service: str
    what: str

    # The name of the price.
    price: str

    quantity: float

    # True if the cost is not proportional to usage. It has a limit, or does not depend on usage.
    fixed: bool = False
