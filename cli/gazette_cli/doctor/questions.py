"""Lookups in AWS and in DNS. A failed lookup returns `Unseen`."""

from collections.abc import Callable
from ipaddress import ip_address
from typing import TypeVar
from urllib.parse import urlsplit

import boto3
import dns.exception
import dns.resolver
from botocore.exceptions import BotoCoreError, ClientError
from gazette.domain.errors import Unavailable

from gazette_cli.doctor.findings import Unseen
from gazette_cli.shared.aws_errors import in_words
from gazette_cli.shared.console import printable

T = TypeVar("T")

_ABSENT = {
    "NotFoundException",
    "ResourceNotFoundException",
    "AWS.SimpleQueueService.NonExistentQueue",
    "QueueDoesNotExist",
    "NotFound",
    "TableNotFoundException",
}
_DENIED = {"AccessDenied", "AccessDeniedException", "AuthorizationError", "NotAuthorized"}
_PATIENCE = 5
"""The timeout of a DNS lookup in seconds, including all servers and attempts."""


def asked(action: str, ask: Callable[[], T]) -> T | Unseen | None:
    """Call `ask` and return the result. Return None if the resource does not exist, or Unseen if
    the call failed for a different reason.

    `action` is the IAM action that the credentials need.
    """
    try:
        return ask()
    except ClientError as err:
        code = err.response.get("Error", {}).get("Code", "")
        if code in _ABSENT or (code == "ValidationError" and "does not exist" in str(err)):
            return None
        if code in _DENIED:
            return Unseen(f"needs {action}")
        return Unseen(printable(in_words(err, "the resource", action.partition(":")[0])))
    except BotoCoreError as err:
        return Unseen(printable(in_words(err, "the resource")))
    except Unavailable as err:
        return Unseen(f"needs {action}: {printable(str(err))}")


def local_endpoint() -> str:
    """Return the endpoint of AWS if it is on this computer, or "". Makes no call."""
    url: str = boto3.client("dynamodb").meta.endpoint_url
    host = urlsplit(url).hostname or ""
    try:
        return url if host == "localhost" or ip_address(host).is_loopback else ""
    except ValueError:  # a name, such as that of AWS
        return ""


def text_records(name: str) -> list[str] | Unseen:
    """Return the TXT records of a DNS name, or an empty result if the name does not exist.

    The resolver of this machine answers within a few seconds.
    """
    resolver_error = f"DNS did not respond for {name}"
    try:
        resolver = dns.resolver.Resolver()
        answer = resolver.resolve(name, "TXT", lifetime=_PATIENCE)
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return []
    except (dns.exception.DNSException, OSError) as err:
        return Unseen(f"{resolver_error} ({type(err).__name__})")
    return [b"".join(each.strings).decode("ascii", "replace") for each in answer]
