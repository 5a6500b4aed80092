"""What AWS or the SDK refused, in one line with what to do."""

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
from gazette.domain.errors import Unavailable

from cli.shared.console import NotPossible, printable

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
_MISSING = frozenset(
    (
        "AWS.SimpleQueueService.NonExistentQueue",
        "NoSuchBucket",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
    )
)
_NOT_HERE = {
    "sqs": "There is no queue {name} here",
    "lambda": "There is no function {name} here",
    "dynamodb": "There is no such table among {name}",
    "secretsmanager": "There is no secret with {name} here",
    "ses": "There is no {name} here",
    "cloudwatch": "There are no {name} here",
    "s3": "There is no bucket for {name} here",
}
"""By the service as IAM names it."""


@contextmanager
def refusals_in_words(name: str, *, service: str = "sqs") -> Iterator[None]:
    """Makes NotPossible of what goes wrong with `name`: a queue, a function, some tables."""
    try:
        yield
    except (BotoCoreError, ClientError) as err:
        raise NotPossible(printable(in_words(err, name, service))) from err
    except Unavailable as err:
        cause = of_aws(err)
        said = in_words(cause, name, service) if cause else f"{err}: try again."
        raise NotPossible(printable(said)) from err
    except ValueError as err:  # an endpoint that is no URL
        raise NotPossible(f"{printable(str(err))}: check AWS_ENDPOINT_URL.") from err


def refusals_of_tables(stage: str) -> AbstractContextManager[None]:
    """Makes NotPossible of what goes wrong with the tables of a stage."""
    return refusals_in_words(f"the tables of stage {stage}", service="dynamodb")


def in_words(err: BotoCoreError | ClientError, name: str, service: str = "sqs") -> str:
    """What is wrong, and what to do."""
    if isinstance(err, ClientError):
        return _answer(err, name, service)
    if isinstance(err, NoRegionError):
        return "No region is set: set AWS_DEFAULT_REGION to that of the stage."
    if isinstance(err, _NOT_LOGGED_IN):
        return f"No AWS credentials ({err}): {_LOG_IN}."
    if isinstance(err, (ConnectionError, HTTPClientError)):
        return f"AWS does not answer ({err}): check the network, the region and AWS_ENDPOINT_URL."
    return f"AWS cannot be asked ({err}): check your AWS configuration."


def of_aws(err: BaseException) -> BotoCoreError | ClientError | None:
    """What AWS said behind an error of ours; PynamoDB keeps it in `cause`."""
    cause: BaseException | None = err
    while cause is not None and not isinstance(cause, (BotoCoreError, ClientError)):
        cause = cause.__cause__ or getattr(cause, "cause", None)
    return cause


def _answer(err: ClientError, name: str, service: str) -> str:
    code = err.response.get("Error", {}).get("Code", "")
    if code in _MISSING:
        not_here = _NOT_HERE[service].format(name=name)
        return f"{not_here}: check --stage, account and region."
    if code in _DENIED:
        action = f"{service}:{err.operation_name}"
        return f"Access denied: your credentials need {action} on {name}."
    if code in _EXPIRED:
        return f"AWS does not accept your credentials ({code}): {_LOG_IN}."
    return f"AWS refused {err.operation_name} on {name} ({err}): mend that, and try again."
