"""What `explain` returns for a reader of a world."""

from datetime import date

from gazette.domain.explanation import Explanation
from gazette.steps.support.explain import explain

from tests.world import World


def explained(world: World, on: date | None = None, user_id: str = "ann") -> Explanation:
    """The explanation of a reader, on a date or now."""
    return explain(
        user_id,
        on,
        subscribers=world.subscribers,
        suppressions=world.suppressions,
        follows=world.follows,
        schedules=world.schedules,
        runs=world.runs,
        events=world.events,
        held_categories=world.held_categories,
        withdrawals=world.withdrawals.current,
        clock=world.clock,
        defaults=world.defaults,
        sunset=world.sunset,
        critical=world.critical,
        quiet_hours=world.quiet_hours,
        allowed=world.allowed,
    )
