"""An email to the SES mailbox simulator, for verifying that delivery events arrive."""

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from gazette.adapters.mail.header_words import ascii_sender
from gazette.domain.errors import Unavailable
from gazette.domain.subscribers.addresses import SIMULATOR

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

SIMULATOR_ADDRESS = f"success@{SIMULATOR}"
"""The address of the canary, which accepts every email. It belongs to no person, so a stage that
allows only some recipients sends the canary too."""


class SesCanary:
    """Implementation of the `Canary` port backed by SES."""

    def __init__(
        self, client: "SESV2Client", *, sender: str, configuration_set: str, installation: str
    ) -> None:
        self._client = client
        self._installation = installation
        self._sender = ascii_sender(sender)
        self._configuration_set = configuration_set

    def send(self) -> None:
        """Send the canary with one SendEmail, whose tag does not name a run."""
        try:
            self._client.send_email(
                FromEmailAddress=self._sender,
                Destination={"ToAddresses": [SIMULATOR_ADDRESS]},
                Content={
                    "Simple": {
                        "Subject": {"Data": "Gazette checks that delivery events arrive"},
                        "Body": {"Text": {"Data": "This email is discarded."}},
                    }
                },
                EmailTags=[
                    {"Name": "run", "Value": "canary"},
                    {"Name": "installation", "Value": self._installation},
                ],
                ConfigurationSetName=self._configuration_set,
            )
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"The canary was not sent: {err}") from err
