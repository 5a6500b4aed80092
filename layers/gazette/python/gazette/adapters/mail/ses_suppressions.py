"""The suppression list that SES keeps for the account, in addition to the table `suppressions`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from gazette.domain.errors import Unavailable
from gazette.domain.subscribers.addresses import canonical

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client


_PAGE = 1000
"""The largest number of entries in a page of SES."""


class SesSuppressions:
    """The addresses for which SES accepts email without sending it.
    https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list.html
    """

    def __init__(self, client: "SESV2Client") -> None:
        self._client = client

    def remove(self, address: str) -> int:
        """Remove every entry of an address, in any spelling. Return their number.

        One ListSuppressedDestinations per thousand entries of the account, and one
        DeleteSuppressedDestination for each entry of the address. SES keeps the case of a local
        part. The list is managed by the exact spelling and may have several entries for one
        address, each of which suppresses every spelling. So only the whole list tells which
        spellings it has.
        https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list-tenant-level-manage.html
        https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_ListSuppressedDestinations.html
        """
        target = canonical(address)
        try:
            # Read all entries first, because a list that shrinks during the read may skip an entry.
            spellings = {each for each in self._entries() if canonical(each) == target}
            return sum(self._delete(each) for each in sorted(spellings))
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"SES did not change its suppression list: {err}") from err

    def _entries(self) -> Iterator[str]:
        page = self._client.list_suppressed_destinations(PageSize=_PAGE)
        while True:
            for entry in page.get("SuppressedDestinationSummaries", ()):
                yield entry["EmailAddress"]
            if not page.get("NextToken"):
                return
            page = self._client.list_suppressed_destinations(
                PageSize=_PAGE, NextToken=page["NextToken"]
            )

    def _delete(self, entry: str) -> bool:
        """Delete an entry. Return False if it was removed meanwhile."""
        try:
            self._client.delete_suppressed_destination(EmailAddress=entry)
        except ClientError as err:
            if err.response["Error"]["Code"] != "NotFoundException":
                raise
            return False
        return True
