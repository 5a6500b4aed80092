"""Amazon SES, API version 2: one SendEmail a message, never repeated."""

from datetime import timedelta
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ProxyConnectionError,
)

from gazette.domain.errors import Unavailable
from gazette.domain.model import Mail
from gazette.domain.pace import Quota
from gazette.domain.signals import (
    Accepted,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Uncertain,
)

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

_CONNECT_TIMEOUT = timedelta(seconds=2)

_FOR_NOW = {"TooManyRequestsException", "ThrottlingException", "Throttling", "RequestThrottled"}
_FOR_GOOD = {"BadRequestException", "MessageRejected"}
_ACCOUNT = {
    "AccountSuspendedException",
    "LimitExceededException",
    "MailFromDomainNotVerifiedException",
    "NotFoundException",
    "SendingPausedException",
}
_NEVER_CONNECTED = (ConnectTimeoutError, EndpointConnectionError, ProxyConnectionError)


def ses_client(send_timeout: timedelta) -> "SESV2Client":
    """A client whose every call is exactly one request and ends within `send_timeout`.

    botocore repeats SendEmail by itself on time-outs, resets, 5xx and throttling, and SES has
    no idempotency token: each repetition could be a second email.
    """
    client: SESV2Client = boto3.client(
        "sesv2",
        config=Config(
            retries={"total_max_attempts": 1, "mode": "standard"},
            connect_timeout=_CONNECT_TIMEOUT.total_seconds(),
            read_timeout=(send_timeout - _CONNECT_TIMEOUT).total_seconds(),
        ),
    )
    return client


class SesMailer:
    """The port `Mailer` on SES."""

    def __init__(self, client: "SESV2Client", *, sender: str, configuration_set: str) -> None:
        self._client = client
        self._sender = sender
        self._configuration_set = configuration_set

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """One SendEmail with `Simple` content, which SES turns into MIME at its own cost.

        https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
        """
        try:
            answer = self._client.send_email(
                FromEmailAddress=self._sender,
                Destination={"ToAddresses": [mail.to]},
                Content={
                    "Simple": {
                        "Subject": {"Data": mail.edition.subject, "Charset": "UTF-8"},
                        "Body": {
                            "Html": {"Data": mail.edition.html, "Charset": "UTF-8"},
                            "Text": {"Data": mail.edition.text, "Charset": "UTF-8"},
                        },
                        "Headers": [{"Name": name, "Value": value} for name, value in mail.headers],
                    }
                },
                EmailTags=[{"Name": name, "Value": value} for name, value in mail.tags],
                ConfigurationSetName=self._configuration_set,
            )
        except ClientError as err:
            return _refusal(err, attempt)
        except ParamValidationError:
            return RefusedForGood(attempt, "ParamValidationError")
        except NoCredentialsError:
            return RefusedAccount(attempt, "NoCredentialsError")
        except _NEVER_CONNECTED as err:
            return RefusedForNow(attempt, type(err).__name__)
        except BotoCoreError as err:
            return Uncertain(attempt, type(err).__name__)
        message_id = answer.get("MessageId")
        if not message_id:
            return Uncertain(attempt, "no MessageId")
        return Accepted(attempt, message_id)


class SesAccount:
    """The port `Account` on SES."""

    def __init__(self, client: "SESV2Client") -> None:
        self._client = client

    def quota(self) -> Quota:
        """One GetAccount. The older GetSendQuota, which it replaces, is for once a second.

        A `Max24HourSend` of -1 is no limit; SES need not name one.
        https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendQuota.html
        https://docs.aws.amazon.com/ses/latest/APIReference/API_GetSendQuota.html
        """
        try:
            quota = self._client.get_account().get("SendQuota", {})
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"SES did not say what the account may send: {err}") from err
        rate = quota.get("MaxSendRate", 0)
        if rate <= 0:
            raise Unavailable(f"SES named no rate at which the account may send: {quota}")
        daily = int(quota.get("Max24HourSend", -1))
        if daily <= 0:
            return Quota(rate=rate)
        sent = int(quota.get("SentLast24Hours", 0))
        return Quota(rate=rate, daily=daily, left=max(0, daily - sent))


def _refusal(err: ClientError, attempt: int) -> SendOutcome:
    """Only what SES documents proves that it did not take the message; all else proves nothing.

    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html, "Errors". 401 and
    403 are the answers of AWS's own authentication, before SES sees the request.
    """
    code = err.response["Error"]["Code"]
    status = err.response["ResponseMetadata"]["HTTPStatusCode"]
    if code in _FOR_NOW or status == 429:
        return RefusedForNow(attempt, code)
    unverified = "not verified" in err.response["Error"].get("Message", "")
    if code in _ACCOUNT or status in {401, 403} or (code == "MessageRejected" and unverified):
        return RefusedAccount(attempt, code)
    if code in _FOR_GOOD and status == 400:
        return RefusedForGood(attempt, code)
    return Uncertain(attempt, f"{status} {code}")
