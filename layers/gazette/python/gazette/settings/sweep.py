"""The settings of `sweep`, which finds runs that are lost or overdue, or whose outcome is
unknown."""

from dataclasses import dataclass

from gazette.domain.scheduling.limits import SweepLimits
from gazette.settings.environment import FunctionSettings, InvalidSetting
from gazette.settings.pacing import PacingSettings
from gazette.settings.ranges import SECOND


@dataclass(frozen=True, kw_only=True)
class SweepSettings(SweepLimits, PacingSettings, FunctionSettings):
    """The settings of `sweep`."""

    events_table: str
    generate_queue_url: str
    immediate_queue_url: str
    resend_queue_url: str
    shard_queue_url: str
    sweep_queue_url: str
    feedback_queue_url: str
    feedback_dead_queue_url: str
    feedback_undelivered_queue_url: str
    mail_provider: str
    sender: str
    configuration_set: str
    installation: str
    unknown_policy: str
    """The policy for runs with an unknown outcome: `resend`, `carry_over` or `assume_sent`."""

    ticks: int
    """1 if fan-out runs on a timer, so that a shard can fall behind; else 0."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting if `longest_unknown` is less than `evidence_grace`."""
        super().__post_init__()
        if self.longest_unknown < self.evidence_grace:
            raise InvalidSetting(
                f"GAZETTE_LONGEST_UNKNOWN is {self.longest_unknown // SECOND}; it must be "
                f"{self.evidence_grace // SECOND} or more, which is GAZETTE_EVIDENCE_GRACE."
            )
