"""The DynamoDB units of visits, of the events that readers have seen, and of mutes."""

from collections.abc import Iterator

from gazette.steps.ingest.seen import ANNOUNCED_AHEAD

from gazette_cli.cost import actions
from gazette_cli.cost.assumptions import MONTH
from gazette_cli.cost.usage import Usage


def visits_and_mutes(usage: Usage) -> Iterator[tuple[str, actions.Units, float]]:
    """Yield the actions with their units and their number.

    Each visit is assumed to be on a day without other activity, and each waiting event to be about
    an entity of its own, so the estimate is an upper limit. A muted event costs less than an event.
    """
    if usage.visits:
        days = usage.per_month(min(usage.visits, MONTH))
        first = usage.readers * min(usage.visits, 1) * usage.days / ANNOUNCED_AHEAD.days
        activity = actions.Units(actions.sign_of_life().written)
        mark = actions.Units(0, 1)
        yield "visits", actions.visit(), usage.per_month(usage.visits)
        yield "first visits in 30 days", actions.first_visit(), first
        yield "activity by visits", activity, days
        yield "visits, for emails", mark, usage.all_events + usage.items * usage.sent_digests
    if seen := usage.all_events * usage.seen:
        yield "seen events", actions.seen_event(), seen
        in_digests = seen * (1 - usage.immediate)
        digests = min(usage.sent_digests, in_digests)
        again = actions.run_with_seen_events(usage.in_a_digest, usage.row)
        yield "digests with seen events", again, digests
        alone = actions.run_with_seen_events(1, usage.row)
        yield "immediate emails with seen events", alone, seen - in_digests
    yield "mutes", actions.mute(), usage.per_month(usage.mutes)
