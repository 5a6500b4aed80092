"""The story of a stage, read for the top of its dashboard."""

from datetime import UTC, datetime

from gazette.adapters.aws.dead_letters.states import count_messages
from gazette.adapters.aws.stage_metrics import StageMetrics
from gazette.bootstrap.console.shared import known_queues, log_problems
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.rate_limiters import rate_limiters
from gazette.domain.console.story import DAY, METRICS, PERIOD, Measures, Points, Story
from gazette.domain.dead_letters import QUARANTINE
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.observability import logger
from gazette.settings.delivery import SupportSettings
from gazette.steps.support.story import Readings, story_of


class StoryReader:
    """A reader of the story of a stage. It keeps the metrics for one period.

    AWS charges for each metric that is read, and a dashboard may be refreshed every ten seconds.
    """

    def __init__(self, settings: SupportSettings) -> None:
        self._stage = settings.stage_name
        self._ticks = bool(settings.ticks)
        self._queues = [dead.name for dead in known_queues(settings)]
        self._limiters = rate_limiters(settings)
        self._metrics = StageMetrics(settings.stage_name)
        self._points: dict[str, Points] = {}
        self._read_at = now() - DAY

    def read(self) -> Story:
        """Return the story. A part that cannot be read does not hide the other parts."""
        counts = count_messages(self._stage, [*self._queues, QUARANTINE])
        log_problems(counts.values())
        readings = Readings(
            measures=self._measures(),
            streams=self._streams(),
            dead={name: counts[name].waiting for name in self._queues},
            quarantine=counts[QUARANTINE].waiting,
        )
        return story_of(readings, stage=self._stage, at=now(), ticks=self._ticks)

    def _measures(self) -> Measures | None:
        at = now()
        if not at - self._read_at < PERIOD:
            try:
                self._points = {
                    **self._metrics.read(METRICS, since=_begin(at) - DAY, until=at, period=PERIOD)
                }
            except Unavailable:
                logger().exception("metrics not read")
                return None
            self._read_at = at
        return Measures.of(self._points, now=self._read_at)

    def _streams(self) -> Streams[PaceReading] | None:
        at, limiters = now(), self._limiters
        try:
            return Streams(digest=limiters.digest.read(at), immediate=limiters.immediate.read(at))
        except (Unavailable, UnreadableRow):
            logger().exception("pace not read")
            return None


def _begin(at: datetime) -> datetime:
    """Return the beginning of a period. CloudWatch then answers from its stored periods."""
    return at - (at - datetime.min.replace(tzinfo=UTC)) % PERIOD
