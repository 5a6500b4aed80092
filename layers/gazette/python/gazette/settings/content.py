"""The settings of the `content` function, which queries the content source."""

from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.scheduling.limits import LatenessLimit
from gazette.settings.ingest import RoutingSettings


@dataclass(frozen=True, kw_only=True)
class ContentSettings(LatenessLimit, RoutingSettings):
    """The settings of the `content` function."""

    pace_table: str
    content_queue_url: str
    recommendations_url: str
    """The URL of the recommendation service."""

    recommendations_secret: str
    """The name of the secret that contains the bearer token; empty if there is none."""

    recommendations_per_second: int
    """The maximum number of requests per second from all workers."""

    recommendations_ramp_from: int
    """The number of requests per second after a pause. This number can double every 30
    seconds."""

    recommendations_timeout: timedelta
    """The time limit for the whole response."""

    recommendations_items: int
    """The maximum number of items in a request."""

    recommendations_lead: timedelta
    """The time before a digest is due at which fetching its items may begin."""

    recommendations_fresh_for: timedelta
    """The maximum age of fetched items at the time when the digest is due."""

    recommendations_policy: str
    """The policy for missing items.

    With `wait`, a digest waits for its items; with `without`, it waits only for
    `recommendations_patience`.
    """

    recommendations_patience: timedelta
    recommendations_fallback_image: str
    link_hosts: str
    """The hosts that event links may point to, as a JSON list for LinkHosts.of."""
