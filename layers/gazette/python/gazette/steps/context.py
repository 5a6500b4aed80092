"""Where events are put: the tables and queues that the steps around it share."""

from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.outside import Clock, RunQueue
from gazette.domain.ports.stores import Events, Follows, Subscribers
from gazette.domain.subscribers.frequency import Frequencies


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingContext:
    """The tables and queues that events are placed with.

    `defaults` are the installation's frequencies by category. `collapse`: how long an immediate
    run collects what else happens on the entity. `hold`: how long after that until all of it
    can be read: the settle lag and clock skew. `write_bound`: how long a write of an event may take
    until windows close without it: the settle lag less clock skew. `check_after`: when the sweep
    looks at a run.
    `sunset`: after how long without a sign of life a reader rests; None: never.
    """

    subscribers: Subscribers
    follows: Follows
    events: Events
    schedules: Schedules
    runs: Runs
    generate_queue: RunQueue
    clock: Clock
    defaults: Frequencies
    collapse: timedelta
    hold: timedelta
    write_bound: timedelta
    check_after: timedelta
    sunset: timedelta | None
