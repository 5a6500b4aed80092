"""Errors of AWS and the SDK, converted to one line with the remedy."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

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
from gazette.adapters.aws.dead_letters.queues import QueueUnavailable
from gazette.domain.dead_letters import Interrupted
from gazette.domain.errors import Unavailable

from gazette_cli.shared.console import NotPossible, printable

_LOG_IN = "Log in, or set AWS_PROFILE"
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
_MISSING = frozenset(
    (
        "AWS.SimpleQueueService.NonExistentQueue",
        "NoSuchBucket",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
    )
)
_NOT_HERE = {
    "sqs": "Queue {name} does not exist",
    "lambda": "Function {name} does not exist",
    "dynamodb": "At least one of {name} does not exist",
    "secretsmanager": "The secret of {name} does not exist",
    "ses": "SES does not have {name}",
    "cloudwatch": "CloudWatch does not have {name}",
    "s3": "The bucket of {name} does not exist",
}
"""Messages about missing resources, keyed by the IAM prefix of the service."""


@contextmanager
def refusals_in_words(name: str, *, service: str) -> Iterator[None]:
    """Convert AWS errors to NotPossible. `name` describes the resource in the error message."""
    try:
        yield
    except (BotoCoreError, ClientError, ValueError) as err:
        raise NotPossible(_of_sdk(err, name, service)) from err
    except Unavailable as err:
        cause = of_aws(err)
        message = in_words(cause, name, service) if cause else f"{err}. Try again."
        raise NotPossible(printable(message)) from err


@contextmanager
def refusals_of_queues() -> Iterator[None]:
    """Convert errors of the layer's calls to SQS to NotPossible."""
    try:
        yield
    except QueueUnavailable as err:
        raise NotPossible(interruption(err)) from err


def interruption(err: Interrupted) -> str:
    """Return the reason why a redrive ended early. For an error of SQS, include the remedy."""
    if isinstance(err, QueueUnavailable):
        return _of_sdk(err.error, err.queue, "sqs")
    return str(err)


def refusals_of_tables(stage: str) -> AbstractContextManager[None]:
    """Convert errors from the tables of a stage to NotPossible."""
    return refusals_in_words(f"the tables of stage {stage}", service="dynamodb")


def _of_sdk(err: BotoCoreError | ClientError | ValueError, name: str, service: str) -> str:
    if isinstance(err, BotoCoreError | ClientError):
        return printable(in_words(err, name, service))
    return f"{printable(str(err))}. Check AWS_ENDPOINT_URL."


def in_words(err: BotoCoreError | ClientError, name: str, service: str = "sqs") -> str:
    """Return the problem and the remedy of an AWS error as text."""
    if isinstance(err, ClientError):
        return _answer(err, name, service)
    if isinstance(err, NoRegionError):
        return "No region is set. Set AWS_DEFAULT_REGION to the region of the stage."
    if isinstance(err, _NOT_LOGGED_IN):
        return f"There are no AWS credentials ({err}). {_LOG_IN}."
    if isinstance(err, (ConnectionError, HTTPClientError)):
        return f"AWS does not respond ({err}). Check the network, the region and AWS_ENDPOINT_URL."
    return f"The call to AWS failed ({err}). Check your AWS configuration."


def of_aws(err: BaseException) -> BotoCoreError | ClientError | None:
    """Return the AWS error that caused an exception, or None. PynamoDB stores the AWS error in
    `cause`.
    """
    cause: BaseException | None = err
    while cause is not None and not isinstance(cause, (BotoCoreError, ClientError)):
        cause = cause.__cause__ or getattr(cause, "cause", None)
    return cause


def _answer(err: ClientError, name: str, service: str) -> str:
    code = err.response.get("Error", {}).get("Code", "")
    if code in _MISSING:
        not_here = _NOT_HERE[service].format(name=name)
        return f"{not_here}. Check --stage, the account and the region."
    if code in _DENIED:
        action = f"{service}:{err.operation_name}"
        return f"Access denied. Your credentials need {action} on {name}."
    if code in _EXPIRED:
        return f"AWS rejected your credentials ({code}). {_LOG_IN}."
    return f"AWS rejected {err.operation_name} on {name} ({err}). Fix the cause, and try again."
