"""Remove a suppression."""

from dataclasses import dataclass

from gazette.domain.ports.stores import Bounces, Suppressions
from gazette.domain.subscribers.suppression import Suppression


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionContext:
    """The suppressed addresses, and the soft bounces by address."""

    suppressions: Suppressions
    bounces: Bounces


def remove_suppression(found: Suppression, *, context: SuppressionContext) -> None:
    """Reset the soft bounces and lift the suppression, unless its cause has changed."""
    context.bounces.forget(found.address)
    context.suppressions.lift(found.address, found.cause)
