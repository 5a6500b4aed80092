"""Settings of the owner and the identity of a stage."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gazette.domain.links import has_host
from gazette.settings.ranges import Range

from gazette_cdk.folders import project
from gazette_cdk.services import RATE, RETURN
from gazette_cdk.stage.checks.addresses import is_address, wrong_sender
from gazette_cdk.stage.checks.wrong import Wrong

_RATE = Range(1, 10_000, "API Gateway gives an account no more")

NOTHING = "none"
"""The value that disables `alarm_email` or `links_domain` intentionally."""

_RUNBOOK_URL = re.compile(r"https?://(?=.{1,192}$)[^\s{}]*[^\s{}/]")
"""The pattern of `runbook_url`.

It limits the length, because the text of an alarm has at most 1,024 characters.
"""


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Owner and identity."""

    sender: str
    """The sender of emails, such as `Shop <digest@shop.example>`.

    SES must have verified the address or its domain. Otherwise SES rejects every email and the
    circuit breaker opens."""

    list_id: str
    """The name of your mailing list in the List-Id header (RFC 2919), such as
    `digest.shop.example`.

    May contain only letters, digits, dots and hyphens.
    """

    alarm_email: str = ""
    """The address that receives the alarms. AWS sends a request to this address to confirm the
    subscription. `none`: no subscription.

    Required with `retain`. Synthesis refuses an empty value, because no one would see the alarms.
    """

    runbook_url: str = ""
    """The base URL at which your team reads docs/runbook, such as
    `https://git.shop.example/gazette/docs/runbook`. Each alarm then ends with the URL of its
    runbook page. Empty: each alarm ends with the path of the page.

    Must begin with `https://` or `http://`, must not end with a slash, and has at most 200
    characters.
    """

    account: str = ""
    """The AWS account, such as `123456789012`. Empty: the account of your credentials.

    Must be twelve digits. The CDK refuses to deploy with credentials of another account.
    """

    region: str = ""
    """The AWS Region, such as `eu-central-1`. Empty: the Region of your credentials.

    Must be a valid Region name. If you change the Region after a deployment, the CDK deploys a
    second stage without the data of the first.
    """

    tags: dict[str, str] = field(default_factory=dict)
    """Tags of all resources, in addition to `gazette:stage` and `gazette:part`, such as
    `{"cost-center": "4711"}`.

    A key must not begin with `aws:` or `gazette:`. The bill shows a tag only after you activate its
    key in the billing console."""

    bus: str = "gazette"
    """The event bus to which services publish events.

    Synthesis refuses the bus of another stage with the same account and Region."""

    sources: dict[str, list[str]] = field(default_factory=dict)
    """The sources that may publish each detail type, such as `{"subscriber.deleted":
    ["shop.accounts"]}`. Any source may publish a detail type that is not listed, except
    `delivery.reported`. [Delivery events](delivery-events.md) must have a listed source.

    Each key must be one of Gazette's detail types, and each list must have at least one source.
    Events from sources that are not listed go to the quarantine (alarm `events-foreign`).
    """

    services_api: dict[str, int | bool] = field(default_factory=dict)
    """The [API for services](api.md), such as `{"requests_per_second": 50}`. `requests_per_second`
    is the rate limit for all callers combined. `return = true` lets services return subscribers
    who unsubscribed, on a [new consent](api.md#a-new-consent). Empty: no API.

    `requests_per_second`: 1 to 10,000. The API answers further requests with 429.
    """

    templates: str = ""
    """A folder next to cdk.json or gazette.toml. Files in this folder replace the files with the
    same names in `templates/`.

    Synthesis refuses a missing folder and a template that cannot be rendered.
    """


def is_number_in(value: object, allowed: Range) -> bool:
    """Return True if the value is an integer in the range. JSON distinguishes numbers and
    booleans."""
    return type(value) is int and value in allowed


def wrong_with_owner(owner: Owner) -> Iterator[Wrong]:
    """Yield the problems with the settings of the owner and the identity."""
    yield from wrong_sender("sender", owner.sender)
    if not re.fullmatch(r"[A-Za-z0-9.-]{1,200}", owner.list_id):
        yield Wrong(
            "list_id must consist of letters, digits, dots and hyphens, such as "
            "digest.shop.example.",
            of=("list_id",),
        )
    if owner.alarm_email not in {"", NOTHING} and not is_address(owner.alarm_email):
        yield Wrong(
            f'alarm_email must be one address, such as team@shop.example, or "{NOTHING}".',
            of=("alarm_email",),
        )
    url = owner.runbook_url
    if url and not (_RUNBOOK_URL.fullmatch(url) and has_host(url)):
        yield Wrong(
            "runbook_url must be a URL with http or https and must not end with a slash.",
            of=("runbook_url",),
        )
    if owner.account and not re.fullmatch(r"[0-9]{12}", owner.account):
        yield Wrong("account must be twelve digits, such as 123456789012.", of=("account",))
    if owner.region and not re.fullmatch(r"[a-z]{2,4}(-[a-z]+)+-[0-9]", owner.region):
        yield Wrong("region must be an AWS Region, such as eu-central-1.", of=("region",))
    for key, value in owner.tags.items():
        if key.startswith(("aws:", "gazette:")) or not 1 <= len(key) <= 128:
            yield Wrong(
                f"tags has the key {key!r}. Use a key of 1 to 128 characters that does not begin "
                "with aws: or gazette:.",
                of=("tags",),
            )
        if not isinstance(value, str) or len(value) > 256:
            yield Wrong(f"tags must give {key!r} a text of at most 256 characters.", of=("tags",))
    if owner.services_api and not _is_services_api(owner.services_api):
        yield Wrong(
            f'services_api must be {{"{RATE}": NUMBER}}, where NUMBER is {_RATE}, or {{}} for no '
            f'API. Add "{RETURN}": true only if services may return subscribers.',
            of=("services_api",),
        )
    if owner.templates and not (project() / owner.templates).is_dir():
        yield Wrong(
            f"templates is {owner.templates!r}, but there is no such folder next to the file of "
            "the settings.",
            of=("templates",),
        )


def _is_services_api(entries: dict[str, int | bool]) -> bool:
    return (
        set(entries) <= {RATE, RETURN}
        and is_number_in(entries.get(RATE), _RATE)
        and type(entries.get(RETURN, False)) is bool
    )
