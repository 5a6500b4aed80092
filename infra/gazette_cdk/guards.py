"""Checks of a stage before it is deployed.

Synthesis makes them. `gazette` does not, because many of its commands work without them.
"""

import os
import re
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from gazette_cdk.stage import NOTHING, Stage
from gazette_cdk.stage.checks.addresses import domain_of
from gazette_cdk.stage.checks.others import Place, taken_by_others
from gazette_cdk.stages import CDK_JSON, refused

_RESERVED = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|net|org)|example|test|invalid|localhost)\.?", re.IGNORECASE
)
"""Reserved domains, which cannot be registered: https://www.rfc-editor.org/rfc/rfc2606"""


def check_ready(
    stage: Stage,
    others: Iterable[Stage],
    *,
    default: Place,
    has_topic: bool = False,
    origin: str = CDK_JSON,
) -> None:
    """Raise StageError if a stage is not ready to deploy, or uses a name that another stage also
    uses.

    `default` is the place of stages that specify no account or Region. `has_topic` is True if the
    app passes a topic for the alarms. `origin` is the place of the settings.
    """
    wrong = [
        *not_ready(stage, has_topic=has_topic),
        *taken_by_others(stage, others, default=default),
    ]
    if wrong:
        raise refused(stage.name, wrong, origin=origin)


def default_place() -> Place:
    """Return the account and Region of the CDK CLI's credentials.

    https://docs.aws.amazon.com/cdk/v2/guide/environments.html
    """
    account, region = (os.environ.get(f"CDK_DEFAULT_{each}", "") for each in ("ACCOUNT", "REGION"))
    return Place(account, region)


def not_ready(stage: Stage, *, has_topic: bool = False) -> Iterator[str]:
    """Yield a sentence for each setting that a stage with `retain` still lacks."""
    if has_topic and stage.alarm_email not in {"", NOTHING}:
        yield (
            f"alarm_email is {stage.alarm_email!r}, but the app passes the topic of the alarms. "
            "Remove the setting, and subscribe the address to the topic."
        )
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
    if not stage.alarm_email and not has_topic:
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
