"""The system clock."""

from datetime import UTC, datetime
from functools import partial

from gazette.domain.ports.clock import Clock

now: Clock = partial(datetime.now, UTC)
