"""Sending through Amazon SES, API version 2. Each message is sent with one SendEmail without
retries.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from datetime import timedelta
from email.utils import parseaddr
from typing import TYPE_CHECKING

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ParamValidationError,
    ProxyConnectionError,
)
from urllib3.exceptions import ConnectTimeoutError as SlowToConnect
from urllib3.exceptions import NewConnectionError

from gazette.adapters.aws.clients import Patience, client
from gazette.adapters.mail.header_words import ascii_sender
from gazette.domain.delivery.pace import Quota
from gazette.domain.delivery.signals import (
    Accepted,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Uncertain,
)
from gazette.domain.errors import Unavailable
from gazette.domain.model import Mail
from gazette.domain.subscribers.addresses import ADDRESS

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client
    from mypy_boto3_sesv2.type_defs import SendEmailRequestTypeDef

_Refusal = type[RefusedForNow] | type[RefusedForGood] | type[RefusedAccount]

_CONNECT_TIMEOUT = timedelta(seconds=2)

_REFUSALS: dict[str, tuple[set[int], _Refusal]] = {
    # "Errors" of SendEmail, as in botocore's model
    "AccountSuspendedException": ({400}, RefusedAccount),
    "BadRequestException": ({400}, RefusedForGood),
    "LimitExceededException": ({400}, RefusedAccount),
    "MailFromDomainNotVerifiedException": ({400}, RefusedAccount),
    "MessageRejected": ({400}, RefusedForGood),
    "NotFoundException": ({404}, RefusedAccount),
    "SendingPausedException": ({400}, RefusedAccount),
    "TooManyRequestsException": ({429}, RefusedForNow),
    # "Common Errors" of every operation; errors with 401 and 403 need no entry
    "AccessDeniedException": ({400, 403}, RefusedAccount),
    "IncompleteSignature": ({400, 403}, RefusedAccount),
    "NotAuthorized": ({400, 401, 403}, RefusedAccount),
    "RequestExpired": ({400, 403}, RefusedForNow),
    "Throttling": ({400, 429}, RefusedForNow),
    "ThrottlingException": ({400, 429}, RefusedForNow),
    "ValidationError": ({400}, RefusedForGood),
}
_OF_ALL = {
    # about the account
    "AccountSuspendedException",
    "LimitExceededException",
    "SendingPausedException",
    # about the credentials, which both streams share
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "InvalidClientTokenId",
    "MissingAuthenticationToken",
    "OptInRequired",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
"""The SES error codes that always affect every stream."""

_NOT_ITS_OWN = re.compile(
    r"[^@\"'<]*?(not verified|(?:is|been) (?:paused|suspended)|sending (?:paused|suspended)"
    r"|configuration set|daily \w+ quota)",
    re.IGNORECASE,
)
_OF_ONE_STREAM = re.compile(r"[^@\"'<]*?(not verified|configuration set)", re.IGNORECASE)
_UNVERIFIED = re.compile(r"failed the check in region [A-Za-z0-9-]+: (.+)$", re.DOTALL)
_NEVER_CONNECTED = (ConnectTimeoutError, EndpointConnectionError)

_unsent: ContextVar[bool] = ContextVar("unsent", default=False)
"""A flag per thread that is True from the start of a call until botocore begins to send the
request.
"""


def ses_client(send_timeout: timedelta) -> "SESV2Client":
    """Return a client that makes one request per call and limits each call to `send_timeout`."""
    connect, read = _CONNECT_TIMEOUT, send_timeout - _CONNECT_TIMEOUT
    patience = Patience(connect.total_seconds(), read.total_seconds(), attempts=1)
    ses: SESV2Client = client("sesv2", patience)
    events = ses.meta.events
    events.register_first("provide-client-params.sesv2.SendEmail", _begin, unique_id="begin")
    events.register_first("before-send.sesv2.SendEmail", _send, unique_id="send")
    return ses


def _begin(**_: object) -> None:
    """Record that botocore is starting to build a request. Called at the first event of each
    call.
    """
    _unsent.set(True)


def _send(**_: object) -> None:
    """Record that botocore is about to send the request."""
    _unsent.set(False)


class SesMailer:
    """Implementation of the `Mailer` port backed by SES.

    Each call to SES runs inside a context manager that `waiting` returns.
    """

    def __init__(
        self,
        client: "SESV2Client",
        *,
        sender: str,
        configuration_set: str,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._client = client
        self._sender = ascii_sender(sender)
        self._configuration_set = configuration_set
        self._waiting = waiting

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """Send the message with one SendEmail. SES converts the `Simple` content into MIME."""
        if not ADDRESS.fullmatch(mail.to):
            return RefusedForGood(attempt, "not an address")
        name = mail.edition.from_name
        request: SendEmailRequestTypeDef = {
            "FromEmailAddress": ascii_sender(self._sender, name) if name else self._sender,
            "Destination": {"ToAddresses": [mail.to]},
            "Content": {
                "Simple": {
                    "Subject": {"Data": mail.edition.subject, "Charset": "UTF-8"},
                    "Body": {
                        "Html": {"Data": mail.edition.html, "Charset": "UTF-8"},
                        "Text": {"Data": mail.edition.text, "Charset": "UTF-8"},
                    },
                    "Headers": [{"Name": name, "Value": value} for name, value in mail.headers],
                }
            },
            "EmailTags": [{"Name": name, "Value": value} for name, value in mail.tags],
            "ReplyToAddresses": [mail.edition.reply_to] if mail.edition.reply_to else [],
            "ConfigurationSetName": self._configuration_set,
        }
        _unsent.set(False)
        try:
            with self._waiting():
                answer = self._client.send_email(**request)
        except Exception as err:  # noqa: BLE001 -- any type; only its time matters
            if _unsent.get():
                return _not_sent(err, attempt)
            if isinstance(err, ClientError):
                return _refusal(err, attempt, sender=self._sender)
            if _never_connected(err):
                return RefusedForNow(attempt, type(err).__name__)
            return Uncertain(attempt, type(err).__name__)
        message_id = answer.get("MessageId")
        if not message_id:
            return Uncertain(attempt, "no MessageId")
        return Accepted(attempt, message_id)


class SesAccount:
    """Implementation of the `Account` port backed by SES."""

    def __init__(self, client: "SESV2Client") -> None:
        self._client = client

    def quota(self) -> Quota:
        """Read the quota with one GetAccount. The older GetSendQuota allows one call per second.

        A `Max24HourSend` of -1, or none at all, means no limit.
        https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendQuota.html
        https://docs.aws.amazon.com/ses/latest/APIReference/API_GetSendQuota.html
        """
        try:
            quota = self._client.get_account().get("SendQuota", {})
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"SES did not report the account's quota: {err}") from err
        rate = quota.get("MaxSendRate", 0)
        if rate <= 0:
            raise Unavailable(f"SES reported no maximum send rate for the account: {quota}")
        daily = int(quota.get("Max24HourSend", -1))
        if daily <= 0:
            return Quota(rate=rate)
        sent = int(quota.get("SentLast24Hours", 0))
        return Quota(rate=rate, daily=daily, left=max(0, daily - sent))


def _never_connected(err: Exception) -> bool:
    """Return True if no connection was made and the request was therefore not sent.

    Behind a proxy, urllib3 and botocore report a lost connection to SES as a failed connection to
    the proxy. The reason is that a closed connection does not record that it was open. Only the
    exception's cause distinguishes the two cases.
    """
    if isinstance(err, ProxyConnectionError):
        cause = getattr(err.kwargs.get("error"), "original_error", None)
        return isinstance(cause, NewConnectionError | SlowToConnect)
    return isinstance(err, _NEVER_CONNECTED)


def _not_sent(err: Exception, attempt: int) -> SendOutcome:
    """Return the refusal for an error that botocore raised before it sent the request.

    Before sending, botocore validates and serializes the request, resolves the endpoint, and finds
    credentials, which may require a call to a different service. An invalid message ends its run.
    An invalid endpoint or invalid credentials affect every email.
    """
    name = type(err).__name__
    if isinstance(err, ParamValidationError | UnicodeError):
        return RefusedForGood(attempt, name)
    if isinstance(err, BotoCoreError | ClientError):
        return RefusedAccount(attempt, name, every_stream=True)
    return RefusedForNow(attempt, name)


def _refusal(err: ClientError, attempt: int, *, sender: str) -> SendOutcome:
    """Return the outcome of an attempt to which SES responded with an error.

    Only a documented error proves that SES did not accept the message. So a known code counts only
    together with its documented status. Other errors count as refusals only with status 401, 403 or
    429. AWS's authentication returns 401 and 403 before SES receives the request, and 429 is a
    refusal by definition (RFC 6585, section 4).
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/CommonErrors.html

    One code may stand for several causes. An exhausted daily quota is reported as throttling
    ("Daily message quota exceeded"); an unverified identity or a paused account is reported as
    MessageRejected. Only the error message distinguishes the causes. Quoted text in the message is
    ignored, because readers choose their own addresses. The message is not stored, because it may
    contain an address.
    https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html
    https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html

    Refusals about the account, its 24-hour quota or the credentials affect every stream. Other
    refusals may affect one stream only, because each stream has its own sender and configuration
    set, which may be missing, unverified or not allowed. Sending can be paused for the account or
    for one configuration set.
    https://docs.aws.amazon.com/ses/latest/dg/monitoring-sender-reputation-pausing.html
    """
    code = err.response.get("Error", {}).get("Code", "")
    status = err.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code not in _REFUSALS:
        if status in {401, 403}:
            return RefusedAccount(attempt, code, every_stream=code in _OF_ALL)
        return RefusedForNow(attempt, code) if status == 429 else _unclear(attempt, status, code)
    statuses, refusal = _REFUSALS[code]
    if status not in statuses:
        return _unclear(attempt, status, code)
    message = str(err.response.get("Error", {}).get("Message", ""))
    match = _NOT_ITS_OWN.match(message)
    if match and not names_only_others(message, sender):
        of_one = _OF_ONE_STREAM.match(message)
        detail = f"{code}: {(of_one or match)[1].lower()}"
        return RefusedAccount(attempt, detail, every_stream=of_one is None)
    if refusal is RefusedAccount:
        return RefusedAccount(attempt, code, every_stream=code in _OF_ALL)
    return refusal(attempt, code)


def names_only_others(message: str, sender: str) -> bool:
    """Return True if the message lists unverified identities, but not the sender.

    In the SES sandbox, recipients must be verified too. An unverified recipient affects only this
    email.
    https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html
    """
    match = _UNVERIFIED.search(message)
    address = parseaddr(sender)[1].lower()
    identities = {name.strip().lower() for name in match[1].split(",")} if match else set()
    return bool(identities) and not identities & {address, address.rpartition("@")[2]}


def _unclear(attempt: int, status: int, code: str) -> Uncertain:
    return Uncertain(attempt, f"{status} {code}")
