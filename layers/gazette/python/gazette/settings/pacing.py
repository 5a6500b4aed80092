"""The settings for pacing email, and for showing the current rate and today's use of the quota."""

from dataclasses import dataclass
from datetime import date

from gazette.settings.environment import InvalidSetting, Settings


@dataclass(frozen=True, kw_only=True)
class PacingSettings(Settings):
    """The settings for pacing email and showing the current rate."""

    pace_table: str
    emails_per_second: int
    """The maximum number of emails per second; 0 for nine tenths of the account's quota."""

    ramp_from: int
    """The number of emails per second at the start of the ramp. This number can double every 30
    seconds.

    0 for no ramp.
    """

    warmup_from: str
    """The first day of the warm-up, as a date in UTC; empty for no warm-up."""

    warmup_daily: int
    """The daily cap on the date `warmup_from`. The cap doubles on each later day."""

    immediate_share: int
    """The percentage of these limits that immediate email gets. Digests get the remainder."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting for values that are out of range, and if `warmup_from` is not a
        date."""
        super().__post_init__()
        try:
            if self.warmup_from:
                date.fromisoformat(self.warmup_from)
        except ValueError as err:
            raise InvalidSetting(
                f"GAZETTE_WARMUP_FROM is {self.warmup_from!r}; it must be empty or a date such as "
                "2026-11-21."
            ) from err
