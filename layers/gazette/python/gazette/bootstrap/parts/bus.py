"""The bus, joined, for those who answer somebody or hold up others while it does not."""

import boto3
from botocore.config import Config

from gazette.adapters.aws.bus import EventBridgeBus

_PROMPTLY = Config(connect_timeout=1, read_timeout=2, retries={"total_max_attempts": 2})
"""Somebody waits in front of a page, or reports of other emails in the same invocation.

Of itself botocore waits a minute for each answer, longer than feedback may take for ten reports.
https://docs.aws.amazon.com/botocore/latest/reference/config.html
"""


def bus(name: str, *, source: str) -> EventBridgeBus:
    """The bus `name`, on which `source` speaks."""
    return EventBridgeBus(boto3.client("events", config=_PROMPTLY), name, source=source)
