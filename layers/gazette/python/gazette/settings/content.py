"""What the function `content` needs to ask a source."""

from dataclasses import dataclass

from gazette.settings.ingest import RoutingSettings


@dataclass(frozen=True, kw_only=True)
class ContentSettings(RoutingSettings):
    """What the function `content` needs.

    `recommendations_url`: where the service is asked. `recommendations_secret`: the name of the
    secret whose text is the bearer token; empty: none. `recommendations_per_second`: requests of
    all workers. `recommendations_ramp_from`: requests a second after a pause, doubled at most each
    `ramp_every`. `recommendations_timeout`: seconds for the whole answer. `recommendations_items`:
    how many are wanted at most. `recommendations_lead` and `recommendations_fresh_for`: minutes.
    `recommendations_policy`: whether a digest waits for its items for `recommendations_patience`,
    or for `max_lateness`. `link_hosts` is as in IngestSettings.
    """

    pace_table: str
    content_queue_url: str
    recommendations_url: str
    recommendations_secret: str
    recommendations_per_second: int
    recommendations_ramp_from: int
    ramp_every: int
    recommendations_timeout: int
    recommendations_items: int
    recommendations_lead: int
    recommendations_fresh_for: int
    recommendations_policy: str
    recommendations_patience: int
    max_lateness: int
    recommendations_fallback_image: str
    link_hosts: str
