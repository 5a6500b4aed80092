"""What steps share: the tables, queues and settings by which schedules are kept and events routed.

Each context contains the one before it, so a function asks for the smaller one where it can.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.queues import RunQueue
from gazette.domain.ports.stores import Events, Follows, Subscribers, Suppressions
from gazette.domain.subscribers.frequency import Frequencies
from gazette.domain.templates.settings import VersionSettings

if TYPE_CHECKING:
    from gazette.domain.scheduling.asking import ContentSources


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleContext:
    """What keeps a subscriber's schedules as the profile wants them.

    `defaults`: the installation's frequencies by category. `sunset`: a subscriber is dormant after
    so long without a sign of life; None: never. `content`: which digests ask content sources; None:
    the installation has none but events.
    """

    subscribers: Subscribers
    schedules: Schedules
    runs: Runs
    clock: Clock
    defaults: Frequencies
    sunset: timedelta | None
    content: "ContentSources | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingContext(ScheduleContext):
    """What routes events to schedules and immediate runs.

    `collapse`: how long an immediate run collects further events on its entity, unless the version
    of the templates that its reader gets says otherwise: `settings_for` a user id. `hold`: how long
    after that until all of them can be read, which is the settle lag and the clock skew.
    `write_bound`: a write of an event that takes longer may miss its window: the settle lag less
    the clock skew. `check_after`: how long after it can be sent the sweep looks at a run.
    `critical`: the categories that come whatever a reader chose. `suppressions`: asked where a
    critical event is for a reader who has left; None if the function stores no new events.
    """

    follows: Follows
    events: Events
    generate_queue: RunQueue
    collapse: timedelta
    settings_for: Callable[[str], VersionSettings]
    hold: timedelta
    write_bound: timedelta
    check_after: timedelta
    critical: Collection[str] = ()
    suppressions: Suppressions | None = None
