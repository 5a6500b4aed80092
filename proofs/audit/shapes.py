"""The shapes of a stage, which are the settings that add or remove resources."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_OWN = {
    "sender": "Gazette <digest@gazette.dev>",
    "list_id": "digest.gazette.dev",
    "alarm_email": "alarms@gazette.dev",
}
_ZONE = {"id": "Z0123456789ABC", "name": "gazette.dev"}
_LINKS = {"links_domain": "links.gazette.dev", "hosted_zone": _ZONE}
_CERTIFICATE = "arn:aws:acm:eu-central-1:123456789012:certificate/11111111-2222"

SHAPES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "plain": {**_OWN, "links_domain": "none"},
        "everything": {
            **_OWN,
            **_LINKS,
            "sandbox": False,
            "domain": "gazette.dev",
            "immediate_sender": "Now <now@gazette.dev>",
            "digest_pool": "digests",
            "immediate_pool": "at-once",
            "track_clicks": True,
            "track_opens": True,
            "feedback_by_sns": True,
            "archive_days": 7,
            "preferences_concurrency": 11,
        },
        "limited": {
            **_OWN,
            **_LINKS,
            "sandbox": False,
            "front_rate_limit": 2000,
            "region": "eu-central-1",
        },
        "zone elsewhere": {
            **_OWN,
            "domain": "gazette.dev",
            "links_domain": "links.gazette.dev",
            "links_certificate": _CERTIFICATE,
        },
        "by smtp": {
            **_OWN,
            "links_domain": "none",
            "mail_provider": "smtp",
            "smtp_host": "mail.gazette.dev",
            "smtp_secret": "login",
            "sources": {"delivery.reported": ["shop.mailgun"]},
            "emails_per_second": 5,
            "unknown_policy": "carry_over",
        },
        "thrown away": {**_OWN, "retain": False, "ticks": False},
    }
)
"""Settings of each shape that differ from those of the stage prod in cdk.json."""
