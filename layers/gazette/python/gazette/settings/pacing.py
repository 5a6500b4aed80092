"""Settings to pace email, and to show the current rate and the use of the day's quota."""

from dataclasses import dataclass
from datetime import date

from gazette.settings.environment import InvalidSetting, Settings


@dataclass(frozen=True, kw_only=True)
class PacingSettings(Settings):
    """Settings to pace email, and to show its rate."""

    pace_table: str
    emails_per_second: int
    """0 for nine tenths of the account's quota."""

    ramp_from: int
    """Emails per second for a cold receiver. At most doubled each `ramp_every`; 0 for no ramp."""

    ramp_every: int
    warmup_from: str
    """A date in UTC, or empty."""

    warmup_daily: int
    """The daily cap on `warmup_from`. It doubles each day."""

    immediate_share: int
    """The percentage of all these limits for immediate email. Digests get the rest."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting for values out of range, and if `warmup_from` is not a date."""
        super().__post_init__()
        try:
            if self.warmup_from:
                date.fromisoformat(self.warmup_from)
        except ValueError as err:
            raise InvalidSetting(
                f"GAZETTE_WARMUP_FROM is {self.warmup_from!r}; it must be empty or a date such as "
                "2026-11-21."
            ) from err
