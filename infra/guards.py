"""What a stage that keeps its data must say before it is deployed."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from infra.stage import NOTHING, Stage
from infra.stage.checks.addresses import domain_of

_RESERVED = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|net|org)|example|test|invalid|localhost)\.?", re.IGNORECASE
)
"""Domains that nobody can have: https://www.rfc-editor.org/rfc/rfc2606"""


def not_ready(stage: Stage) -> Iterator[str]:
    """What a stage that keeps its data does not say yet, each in a sentence.

    Synthesis asks for it; the command line does not, because much of it needs no such stage.
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
            yield f"{setting} is {text!r}, of a domain that nobody has: write your own."
    if stage.base_url and not stage.base_url.startswith("https://"):
        yield f"base_url is {stage.base_url!r}, where no reader arrives: begin it with https://."
    if not stage.alarm_email:
        yield (
            "alarm_email is empty, so that nobody would hear of an alarm: write an address, or "
            f'"{NOTHING}" if you mean it.'
        )
    if not stage.links_domain and not stage.base_url:
        yield (
            "links_domain is empty, so that links in emails would end with the stack: write a "
            "domain for them, with hosted_zone or links_certificate (docs/links.md), or "
            f'"{NOTHING}" if you mean it.'
        )
