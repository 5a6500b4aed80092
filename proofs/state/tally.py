"""The totals of all histories."""

from dataclasses import asdict, dataclass


@dataclass
class Tally:
    """The totals of all histories.

    `unknown` counts those `attempts` whose outcome was at first unknown. `repeated` counts emails
    that repeat an event which a policy had given up. `receipts` counts the receipts that were
    compared with the emails.
    """

    histories: int = 0
    workers: int = 0
    died: int = 0
    runs: int = 0
    attempts: int = 0
    emails: int = 0
    unknown: int = 0
    repeated: int = 0
    receipts: int = 0
    violations: int = 0

    def __str__(self) -> str:
        figures = " ".join(f"{name}={number}" for name, number in asdict(self).items())
        rate = self.unknown / self.attempts if self.attempts else 0
        return f"state: {figures} unknown_rate={rate:.1%}"


TALLY = Tally()
