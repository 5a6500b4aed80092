"""Asks AWS and the DNS, and keeps what may not be asked as a fact of its own."""

from collections.abc import Callable
from typing import TypeVar

import dns.exception
import dns.resolver
from botocore.exceptions import BotoCoreError, ClientError
from gazette.domain.errors import Unavailable

from cli.doctor.findings import Unseen
from cli.shared.aws_errors import in_words
from cli.shared.console import printable

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
"""Seconds for all servers and attempts of one DNS question."""


def asked(action: str, ask: Callable[[], T]) -> T | Unseen | None:
    """What `ask` returns; None if AWS says that there is no such thing.

    `action`: what the credentials need, as IAM names it.
    """
    try:
        return ask()
    except ClientError as err:
        code = err.response.get("Error", {}).get("Code", "")
        if code in _ABSENT or (code == "ValidationError" and "does not exist" in str(err)):
            return None
        if code in _DENIED:
            return Unseen(f"needs {action}")
        return Unseen(printable(in_words(err, "this", action.partition(":")[0])))
    except BotoCoreError as err:
        return Unseen(printable(in_words(err, "this")))
    except Unavailable as err:
        return Unseen(f"needs {action}: {printable(str(err))}")


def text_records(name: str) -> list[str] | Unseen:
    """The TXT records of a name, each in one piece; none if there is no such name.

    Asks the resolver of this machine, for a few seconds at most.
    """
    resolver_error = f"the DNS did not answer for {name}"
    try:
        resolver = dns.resolver.Resolver()
        answer = resolver.resolve(name, "TXT", lifetime=_PATIENCE)
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return []
    except (dns.exception.DNSException, OSError) as err:
        return Unseen(f"{resolver_error} ({type(err).__name__})")
    return [b"".join(each.strings).decode("ascii", "replace") for each in answer]
