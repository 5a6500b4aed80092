"""The suppression list that SES keeps for the account, beside the table `suppressions`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from gazette.domain.errors import Unavailable
from gazette.domain.subscribers.addresses import canonical

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client


_PAGE = 1000
"""The most entries that SES lists at once."""


class SesSuppressions:
    """Addresses to which SES sends nothing, though it accepts email for them.

    https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list.html
    """

    def __init__(self, client: "SESV2Client") -> None:
        self._client = client

    def remove(self, address: str) -> int:
        """Remove every entry of an address, in whatever spelling. Returns how many there were.

        One ListSuppressedDestinations per thousand entries of the account, and one
        DeleteSuppressedDestination for each entry of the address. SES keeps the case of a local
        part: the list is managed by the exact spelling, and may have several, but holds up email
        to all of them. So only the whole list tells which spellings it has.
        https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list-tenant-level-manage.html
        https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_ListSuppressedDestinations.html
        """
        wanted = canonical(address)
        try:
            # All are read first: a list that shrinks while it is read may pass over an entry.
            found = {each for each in self._entries() if canonical(each) == wanted}
            return sum(self._delete(each) for each in sorted(found))
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
        """False if it was removed meanwhile."""
        try:
            self._client.delete_suppressed_destination(EmailAddress=entry)
        except ClientError as err:
            if err.response["Error"]["Code"] != "NotFoundException":
                raise
            return False
        return True
