"""The checks that an AWS emulator on this computer cannot show."""

from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

import boto3
from gazette.domain.console.levels import Level

from gazette_cli.doctor.findings import Finding, Unseen, unseen

_NO_DOMAIN = "it verifies no domain"
_NOT_SHOWN = (
    ("table ", "expiry is None", "it does not keep the expiry of tables"),
    ("account concurrency", "", "its limit depends on this computer"),
    ("identity ", "", _NO_DOMAIN),
    ("dkim ", "", _NO_DOMAIN),
    ("mail from ", "", _NO_DOMAIN),
    ("dmarc ", "", "the domain of its stage need not exist"),
)
"""The starts of a check and of its state, and the reason why an emulator cannot show the check."""

_NEVER = (
    "the delivery of email and its events, the authentication of the domain (SPF, DKIM, DMARC), "
    "alarms on the metrics that functions write to their logs, the protection and recovery of "
    "tables, and quotas of the account"
)
"""What a finding without a problem does not prove on an emulator."""


def local_endpoint() -> str:
    """Return the endpoint of AWS if it is on this computer, or "". Makes no call."""
    url: str = boto3.client("dynamodb").meta.endpoint_url
    host = urlsplit(url).hostname or ""
    try:
        return url if host == "localhost" or ip_address(host).is_loopback else ""
    except ValueError:  # a name, such as that of AWS
        return ""


def marked(findings: Iterable[Finding], endpoint: str) -> Iterator[Finding]:
    """Yield the findings, with those that an emulator cannot show as not checked."""
    why = f"{endpoint} is an emulator, not AWS. It cannot show {_NEVER}."
    yield unseen("emulator", Unseen(why))
    for each in findings:
        reason = not_shown(each.check, each.seen) if each.level is not Level.OK else ""
        if reason:
            yield unseen(each.check, Unseen(f"not shown by the emulator: {reason}"))
        else:
            yield each


def not_shown(check: str, seen: str) -> str:
    """Return the reason why an emulator cannot show a check, or "" if it can."""
    return next(
        (
            reason
            for check_start, seen_start, reason in _NOT_SHOWN
            if check.startswith(check_start) and seen.startswith(seen_start)
        ),
        "",
    )
