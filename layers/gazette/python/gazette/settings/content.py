"""The settings of the `content` function, which queries the content source."""

from dataclasses import dataclass

from gazette.settings.ingest import RoutingSettings


@dataclass(frozen=True, kw_only=True)
class ContentSettings(RoutingSettings):
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
    """The number of requests per second after a pause. This number can double every `ramp_every`
    seconds."""

    ramp_every: int
    recommendations_timeout: int
    """The time limit in seconds for the whole response."""

    recommendations_items: int
    """The maximum number of items in a request."""

    recommendations_lead: int
    """The number of minutes before a digest is due at which fetching its items may begin."""

    recommendations_fresh_for: int
    """The maximum age of fetched items, in minutes, at the time when the digest is due."""

    recommendations_policy: str
    """The policy for missing items.

    With `wait`, a digest waits for its items; with `without`, it waits only for
    `recommendations_patience`.
    """

    recommendations_patience: int
    max_lateness: int
    recommendations_fallback_image: str
    link_hosts: str
    """The hosts that event links may point to, as a JSON list for LinkHosts.of."""
