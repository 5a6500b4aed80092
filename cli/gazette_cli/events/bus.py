"""The bus on which services publish events for a stage."""

import re
from dataclasses import dataclass

from gazette_cli.shared.stages import stage_of

_ARN = re.compile(r"arn:aws[a-z-]*:events:([a-z0-9-]+):(\d{12}):event-bus/(.+)")


@dataclass(frozen=True, slots=True)
class StageBus:
    """The bus of a stage. `account` and `region` are empty if the stage does not specify them."""

    name: str
    account: str = ""
    region: str = ""

    def problem(self, given: object) -> str:
        """Return the problem with an EventBusName (a name or an ARN), or "" if the value is valid.

        https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsRequestEntry.html
        """
        if not isinstance(given, str):
            return f"EventBusName: must be text, such as {self.name}"
        arn = _ARN.fullmatch(given)
        region, account, name = arn.groups() if arn else ("", "", given)
        if name == self.name and (
            arn is None or (self.region in {"", region} and self.account in {"", account})
        ):
            return ""
        where = "".join(
            f", {what} {value}"
            for what, value in (("account", self.account), ("region", self.region))
            if value
        )
        return (
            f"EventBusName: is {given!r}, but the stage receives events only from the bus "
            f"{self.name}{where} (`bus` setting)"
        )


def bus_of(stage: str) -> StageBus:
    """Return the bus of a stage of the project. Raises NotPossible."""
    settings = stage_of(stage)
    return StageBus(settings.bus, settings.account, settings.region)
