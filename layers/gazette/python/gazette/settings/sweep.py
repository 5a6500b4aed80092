"""The settings of `sweep`, which finds runs that are lost or overdue, or whose outcome is
unknown."""

from dataclasses import dataclass

from gazette.settings.environment import InvalidSetting
from gazette.settings.pacing import PacingSettings


@dataclass(frozen=True, kw_only=True)
class SweepSettings(PacingSettings):
    """The settings of `sweep`."""

    schedules_table: str
    events_table: str
    runs_table: str
    control_table: str
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

    evidence_grace: int
    """The time within which a delivery event from the provider must arrive."""

    longest_unknown: int
    """The maximum time for which `resend` waits for proof that delivery events arrive."""

    check_after: int
    run_retention_days: int
    shards: int
    lookback_slots: int
    ticks: int
    """1 if fan-out runs on a timer, so that a shard can fall behind; else 0."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting if `longest_unknown` is less than `evidence_grace`."""
        super().__post_init__()
        if self.longest_unknown < self.evidence_grace:
            raise InvalidSetting(
                f"GAZETTE_LONGEST_UNKNOWN is {self.longest_unknown}; it must be "
                f"{self.evidence_grace} or more, which is GAZETTE_EVIDENCE_GRACE."
            )
