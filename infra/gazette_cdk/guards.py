"""Settings that a stage with `retain` must have before it is deployed."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from gazette_cdk.stage import NOTHING, Stage
from gazette_cdk.stage.checks.addresses import domain_of

_RESERVED = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|net|org)|example|test|invalid|localhost)\.?", re.IGNORECASE
)
"""Reserved domains, which cannot be registered: https://www.rfc-editor.org/rfc/rfc2606"""


def not_ready(stage: Stage) -> Iterator[str]:
    """Yield a sentence for each setting that a stage with `retain` still lacks.

    Synthesis requires them. `gazette` does not, because many of its commands work without them.
    """
    if not stage.retain:
        return
    for setting, text, domain in (
        ("sender", stage.sender, domain_of(stage.sender)),
        ("immediate_sender", stage.immediate_sender, domain_of(stage.immediate_sender)),
        ("list_id", stage.list_id, stage.list_id),
        ("alarm_email", stage.alarm_email, stage.alarm_email.rpartition("@")[2]),
        ("links_domain", stage.links_host, stage.links_host),
        ("base_url", stage.base_url, urlsplit(stage.base_url).hostname or ""),
    ):
        if text and _RESERVED.fullmatch(domain):
            yield f"{setting} is {text!r}, a placeholder domain. Replace it with yours."
    if stage.base_url and not stage.base_url.startswith("https://"):
        yield f"base_url is {stage.base_url!r}, which no reader can open. Begin it with https://."
    if not stage.alarm_email:
        yield (
            "alarm_email is empty, so no one would receive alarms. Write an address, or "
            f'"{NOTHING}" if you want none.'
        )
    if not stage.links_domain and not stage.base_url:
        yield (
            "links_domain is empty, so links in emails would break when the stack is deleted. "
            "Write a domain for them, with hosted_zone or links_certificate (docs/links.md), or "
            f'"{NOTHING}" if you want none.'
        )
