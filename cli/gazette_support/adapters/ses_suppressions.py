"""The account-level suppression list of SES, which exists in addition to the `suppressions`
table.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError
from gazette.domain.errors import Unavailable
from gazette.domain.subscribers.addresses import canonical

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client


_PAGE = 1000
"""The maximum number of entries that SES returns in one page of the list."""


class SesSuppressions:
    """The addresses for which SES accepts email without sending it.
    https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list.html
    """

    def __init__(self, client: "SESV2Client") -> None:
        self._client = client

    def remove(self, address: str) -> int:
        """Remove all entries of an address, including entries with a different spelling. Return the
        number of removed entries.

        Costs one ListSuppressedDestinations per thousand entries of the account, and one
        DeleteSuppressedDestination for each entry of the address. SES keeps the case of the local
        part. Entries are managed by exact spelling, so an address may have several entries, each of
        which suppresses every spelling. The spellings can only be found by reading the whole list.
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

    def forget(self, address: str) -> None:
        """Remove one spelling of an address, if it has an entry, with one
        DeleteSuppressedDestination.

        Raises Unavailable.
        """
        try:
            self._delete(address)
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
        """Delete one entry of the list. Return False if the entry no longer exists."""
        try:
            self._client.delete_suppressed_destination(EmailAddress=entry)
        except ClientError as err:
            if err.response["Error"]["Code"] != "NotFoundException":
                raise
            return False
        return True
