"""Events and digests of the reader Ann, for tests of routing."""

from tests.builders import an_event
from tests.world import World


def put(world: World, number: int, entity_id: str = "") -> None:
    """An event `e<number>` on an entity of its own, unless `entity_id` names another."""
    entity_id = entity_id or f"post{number}"
    world.create(an_event(f"e{number}", entity_id=entity_id, occurred_at=world.clock()))


def shown(world: World) -> list[str]:
    """The lines of all emails, sorted."""
    return sorted(line for email in world.emails() for line in email.lines)
