"""What AWS or the SDK refused, in one line with what to do."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
)

from cli.console import NotPossible, printable

_LOG_IN = "log in, or set AWS_PROFILE"
_NOT_LOGGED_IN = (
    NoCredentialsError,
    PartialCredentialsError,
    CredentialRetrievalError,
    ProfileNotFound,
    SSOError,
)
_EXPIRED = frozenset(
    (
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSecurity",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    )
)
_DENIED = frozenset(("AccessDenied", "AccessDeniedException"))
_NO_QUEUE = frozenset(("AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"))


@contextmanager
def refusals_in_words(queue: str) -> Iterator[None]:
    """Makes NotPossible of what goes wrong with `queue`."""
    try:
        yield
    except (BotoCoreError, ClientError) as err:
        raise NotPossible(printable(in_words(err, queue))) from err
    except ValueError as err:  # an endpoint that is no URL
        raise NotPossible(f"{printable(str(err))}: check AWS_ENDPOINT_URL.") from err


def in_words(err: BotoCoreError | ClientError, queue: str) -> str:
    """What is wrong, and what to do."""
    if isinstance(err, ClientError):
        return _answer(err, queue)
    if isinstance(err, NoRegionError):
        return "No region is set: set AWS_DEFAULT_REGION to that of the stage."
    if isinstance(err, _NOT_LOGGED_IN):
        return f"No AWS credentials ({err}): {_LOG_IN}."
    if isinstance(err, (ConnectionError, HTTPClientError)):
        return f"AWS does not answer ({err}): check the network, the region and AWS_ENDPOINT_URL."
    return f"AWS cannot be asked ({err}): check your AWS configuration."


def _answer(err: ClientError, queue: str) -> str:
    code = err.response.get("Error", {}).get("Code", "")
    if code in _NO_QUEUE:
        return f"There is no queue {queue} here: check --stage, account and region."
    if code in _DENIED:
        action = f"sqs:{err.operation_name}"
        return f"Access denied: your credentials need {action} on {queue}."
    if code in _EXPIRED:
        return f"AWS does not accept your credentials ({code}): {_LOG_IN}."
    return f"AWS refused {err.operation_name} on {queue} ({err}): mend that, and try again."
