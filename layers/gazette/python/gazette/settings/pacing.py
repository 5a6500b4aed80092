"""What is needed to pace email, or to see how fast it goes out and whether the day is used up."""

from dataclasses import dataclass
from datetime import date

from gazette.settings.environment import InvalidSetting, Settings


@dataclass(frozen=True, kw_only=True)
class PacingSettings(Settings):
    """What is needed to pace email, or to show how fast it goes out.

    `emails_per_second`: 0 for nine tenths of the account's quota. `ramp_from`: emails a second
    for a cold receiver, doubled at most each `ramp_every`; 0 for no ramp. `warmup_daily`: the
    daily cap on `warmup_from`, a date in UTC or empty; it doubles each day. `immediate_share`: the
    percentage of all these limits that is for immediate email; digests get the rest.
    """

    pace_table: str
    emails_per_second: int
    ramp_from: int
    ramp_every: int
    warmup_from: str
    warmup_daily: int
    immediate_share: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting for values out of range, and where `warmup_from` is no date."""
        super().__post_init__()
        try:
            if self.warmup_from:
                date.fromisoformat(self.warmup_from)
        except ValueError as err:
            raise InvalidSetting(
                f"GAZETTE_WARMUP_FROM is {self.warmup_from!r}; it must be empty or a date such as "
                "2026-11-21."
            ) from err
