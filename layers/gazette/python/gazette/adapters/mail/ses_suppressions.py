"""The suppression list that SES keeps for the account, beside the table `suppressions`."""

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from gazette.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client


class SesSuppressions:
    """Addresses to which SES sends nothing, though it accepts email for them.

    https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list.html
    """

    def __init__(self, client: "SESV2Client") -> None:
        self._client = client

    def remove(self, address: str) -> bool:
        """One DeleteSuppressedDestination. False if the address was not there.

        https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_DeleteSuppressedDestination.html
        """
        try:
            self._client.delete_suppressed_destination(EmailAddress=address)
        except (BotoCoreError, ClientError) as err:
            code = err.response["Error"]["Code"] if isinstance(err, ClientError) else ""
            if code == "NotFoundException":
                return False
            raise Unavailable(f"SES did not change its suppression list: {err}") from err
        return True
