"""Who you are."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from infra.stage.checks.addresses import is_address, wrong_sender
from infra.stage.checks.wrong import Wrong

ROOT = Path(__file__).parents[2]

NOTHING = "none"
"""What `alarm_email` and `links_domain` say where a stage means to have none."""

_RUNBOOK_URL = re.compile(r"https?://(?=.{1,192}$)[^\s{}]*[^\s{}/]")
"""The text of an alarm has 1,024 characters at most."""


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Who you are."""

    sender: str
    """Who email comes from, such as `Shop <digest@shop.example>`; an identity verified in SES.

    SES refuses what it has not verified: the circuit breaker opens."""

    list_id: str
    """Names your list to mail programs (RFC 2919), such as `digest.shop.example`.

    Only letters, digits, dots and hyphens."""

    alarm_email: str = ""
    """Who gets the alarms, by an email subscription that they have to confirm. `none`: nobody.

    Empty: synthesis refuses it with `retain`, because alarms would reach nobody."""

    runbook_url: str = ""
    """Where your team reads docs/runbook, such as `https://git.shop.example/gazette/docs/runbook`:
    the text of each alarm then ends with the whole address of its page. Empty: its path.

    Must begin with `https://` or `http://`, end without a slash; 200 characters at most."""

    account: str = ""
    """The AWS account of this stage, such as `123456789012`. Empty: that of your credentials.

    Twelve digits. The CDK refuses to deploy with credentials of another account."""

    region: str = ""
    """The region of this stage, such as `eu-central-1`. Empty: that of your credentials.

    What is no region's name is refused. A stage that is deployed and then gets another region is
    deployed there a second time, without its data."""

    tags: dict[str, str] = field(default_factory=dict)
    """Tags of everything that is deployed, beside `gazette:stage` and `gazette:part`, such as
    `{"cost-center": "4711"}`.

    A key of `aws:` or `gazette:` is refused. Activate the keys in the billing console: else the
    bill does not show them."""

    bus: str = "gazette"
    """The event bus on which services put events.

    Synthesis refuses the bus of another stage with the same account and region."""

    sources: dict[str, list[str]] = field(default_factory=dict)
    """Which sources may put a detail type, such as `{"subscriber.deleted": ["shop.accounts"]}`. A
    detail type that is not named: every source.

    A list that is empty, or of another detail type, is refused. What another source puts waits in
    the quarantine (alarm `events-foreign`)."""

    templates: str = ""
    """A folder beside cdk.json whose files replace those of `templates/`.

    A missing folder, or a template that cannot be rendered, is refused."""


def wrong_with_owner(owner: Owner) -> Iterator[Wrong]:
    """What no stage may say of who it is."""
    yield from wrong_sender("sender", owner.sender)
    if not re.fullmatch(r"[A-Za-z0-9.-]{1,200}", owner.list_id):
        yield Wrong("list_id must be like digest.shop.example.", of=("list_id",))
    if owner.alarm_email not in {"", NOTHING} and not is_address(owner.alarm_email):
        yield Wrong(
            f'alarm_email must be one address, such as team@shop.example, or "{NOTHING}".',
            of=("alarm_email",),
        )
    if owner.runbook_url and not _RUNBOOK_URL.fullmatch(owner.runbook_url):
        yield Wrong(
            "runbook_url must be an address of http or https, without a slash at its end.",
            of=("runbook_url",),
        )
    if owner.account and not re.fullmatch(r"[0-9]{12}", owner.account):
        yield Wrong("account must be twelve digits, such as 123456789012.", of=("account",))
    if owner.region and not re.fullmatch(r"[a-z]{2,4}(-[a-z]+)+-[0-9]", owner.region):
        yield Wrong("region must be the name of a region, such as eu-central-1.", of=("region",))
    for key, value in owner.tags.items():
        if key.startswith(("aws:", "gazette:")) or not 1 <= len(key) <= 128:
            yield Wrong(
                f"tags has the key {key!r}; write one of 1 to 128 characters that begins with "
                "neither aws: nor gazette:.",
                of=("tags",),
            )
        if not isinstance(value, str) or len(value) > 256:
            yield Wrong(f"tags gives {key!r} no text of at most 256 characters.", of=("tags",))
    if owner.templates and not (ROOT / owner.templates).is_dir():
        yield Wrong(
            f"templates is {owner.templates!r}, and there is no such folder beside cdk.json.",
            of=("templates",),
        )
