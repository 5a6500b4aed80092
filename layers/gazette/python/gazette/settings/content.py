"""Settings of the function `content`, which queries the content source."""

from dataclasses import dataclass

from gazette.settings.ingest import RoutingSettings


@dataclass(frozen=True, kw_only=True)
class ContentSettings(RoutingSettings):
    """Settings of `content`."""

    pace_table: str
    content_queue_url: str
    recommendations_url: str
    """The service's endpoint."""

    recommendations_secret: str
    """The name of the secret that contains the bearer token. Empty for none."""

    recommendations_per_second: int
    """Requests per second of all workers."""

    recommendations_ramp_from: int
    """Requests per second after a pause. At most doubled each `ramp_every`."""

    ramp_every: int
    recommendations_timeout: int
    """Seconds for the whole answer."""

    recommendations_items: int
    """The largest number of items in a request."""

    recommendations_lead: int
    """The minutes before a digest in which its items may be fetched."""

    recommendations_fresh_for: int
    """The age in minutes up to which items are fresh when the digest is due."""

    recommendations_policy: str
    """`wait` if a digest waits for its items for `recommendations_patience`, or `without`."""

    recommendations_patience: int
    max_lateness: int
    recommendations_fallback_image: str
    link_hosts: str
    """JSON. The hosts to which links of events may lead, as LinkHosts.of accepts them."""
