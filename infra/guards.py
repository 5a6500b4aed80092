"""What keeps a stage from being deployed to the wrong place, or without what it needs."""

import re
from collections.abc import Iterator
from email.utils import parseaddr
from urllib.parse import urlsplit

from infra.sender_domain import DOMAIN, is_under
from infra.stage import NOTHING, Stage

_LONGEST_ARCHIVE = 30
"""Days. An event is known by its id for 35 at least: a replay of this archive repeats nothing."""

_RUNBOOK_URL = re.compile(r"https?://(?=.{1,192}$)[^\s{}]*[^\s{}/]")
"""The text of an alarm has 1,024 characters at most."""

_RESERVED = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|net|org)|example|test|invalid|localhost)\.?", re.IGNORECASE
)
"""Domains that nobody can have: https://www.rfc-editor.org/rfc/rfc2606"""


def not_ready(stage: Stage) -> Iterator[str]:
    """What a stage that keeps its data does not say yet, each as `wrong_settings` does.

    Synthesis asks for it; the command line does not, because much of it needs no such stage.
    """
    if not stage.retain:
        return
    for setting, text, domain in (
        ("sender", stage.sender, parseaddr(stage.sender)[1].rpartition("@")[2]),
        ("immediate_sender", stage.immediate_sender, stage.streams[1].address.rpartition("@")[2]),
        ("list_id", stage.list_id, stage.list_id),
        ("alarm_email", stage.alarm_email, stage.alarm_email.rpartition("@")[2]),
        ("links_domain", stage.links_host, stage.links_host),
        ("base_url", stage.base_url, urlsplit(stage.base_url).hostname or ""),
    ):
        if text and _RESERVED.fullmatch(domain):
            yield f"{setting} is {text!r}, of a domain that nobody has: write your own."
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


def wrong_settings(stage: Stage) -> Iterator[str]:
    """Which settings no stage may have, each as the rest of a sentence that names the stage."""
    if stage.account and not re.fullmatch(r"[0-9]{12}", stage.account):
        yield "account must be twelve digits, such as 123456789012."
    if stage.region and not re.fullmatch(r"[a-z]{2,4}(-[a-z]+)+-[0-9]", stage.region):
        yield "region must be the name of a region, such as eu-central-1."
    if stage.alarm_email not in {"", NOTHING} and "@" not in stage.alarm_email:
        yield f'alarm_email must be an address, or "{NOTHING}".'
    if stage.runbook_url and not _RUNBOOK_URL.fullmatch(stage.runbook_url):
        yield "runbook_url must be an address of http or https, without a slash at its end."
    for key, value in stage.tags.items():
        if key.startswith(("aws:", "gazette:")) or not 1 <= len(key) <= 128:
            yield f"tags has the key {key!r}; another one begins with neither aws: nor gazette:."
        if not isinstance(value, str) or len(value) > 256:
            yield f"tags gives {key!r} no text of at most 256 characters."
    if not 0 <= stage.archive_days <= _LONGEST_ARCHIVE:
        yield f"archive_days must be 0 to {_LONGEST_ARCHIVE}; 0 is no archive."
    yield from _wrong_links(stage)


def _wrong_links(stage: Stage) -> Iterator[str]:
    host = stage.links_host
    if not host:
        if stage.links_certificate or stage.api_address or stage.edge_rate_limit:
            yield "links_certificate, api_address and edge_rate_limit need links_domain."
        return
    if not DOMAIN.fullmatch(host):
        yield "links_domain must be a domain in lower case, such as links.shop.example."
    if stage.base_url:
        yield "links_domain and base_url exclude each other: links lead to one of them."
    if not stage.links_certificate and not is_in_zone(stage):
        yield (
            "links_domain needs a hosted_zone whose name it is or is below, or links_certificate "
            "if its zone is elsewhere."
        )
    if stage.links_certificate:
        region = "us-east-1" if stage.edge_rate_limit else stage.region or r"[a-z0-9-]+"
        if not re.fullmatch(
            rf"arn:aws[a-z-]*:acm:{region}:\d{{12}}:certificate/.+", stage.links_certificate
        ):
            yield (
                "links_certificate must be the ARN of a certificate of ACM, in us-east-1 with "
                "edge_rate_limit, else in the region of the stage."
            )
    if stage.edge_rate_limit and not 100 <= stage.edge_rate_limit <= 1_000_000:
        yield "edge_rate_limit must be 100 to 1000000; 0 is no CloudFront and no limit."
    if stage.edge_rate_limit and not stage.region:
        yield "edge_rate_limit needs region: rules of WAF for CloudFront are in us-east-1."
    if stage.edge_rate_limit and stage.api_address:
        yield "edge_rate_limit and api_address exclude each other: it would not hold there."


def is_in_zone(stage: Stage) -> bool:
    """Whether the records of `links_domain` belong in the stage's own zone."""
    zone = stage.hosted_zone.get("name", "")
    return bool(zone) and is_under(stage.links_host, zone)
