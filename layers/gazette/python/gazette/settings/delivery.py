"""What the functions need that start digests and send them."""

from dataclasses import dataclass
from datetime import date

from gazette.settings.budgets import smtp_budget
from gazette.settings.environment import InvalidSetting, Settings, check, check_choice
from gazette.settings.ingest import (
    EVENT_WRITE_TIMEOUT_MS,
    KEPT_AFTER_DAYS,
    LONGEST_LIFE_DAYS,
)

MAX_EMAILS_PER_SECOND = 500
"""Each is a write of one row, which takes 1,000 a second, and some are refused.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"""


@dataclass(frozen=True, kw_only=True)
class FanoutSettings(Settings):
    """What `fanout` needs. `spread`: longest random delay of a message, at most SQS's 900 s.

    `max_lateness`: what was due longer ago is not sent; its events go with the next digest.
    `lookback_slots`: how many slots are read again, because the due index is eventually consistent.
    `mail_provider`: of `ses`, the account's quota is asked for, of which `immediate_share` is as in
    PacingSettings.
    """

    subscribers_table: str
    schedules_table: str
    events_table: str
    runs_table: str
    control_table: str
    shard_queue_url: str
    generate_queue_url: str
    shards: int
    lookback_slots: int
    spread: int
    settle_lag: int
    max_lateness: int
    check_after: int
    sunset_days: int
    run_retention_days: int
    pace_table: str
    mail_provider: str
    immediate_share: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting. SQS hides a message for 900 s at most."""
        check(
            self,
            spread=(0, 900),
            shards=(1, 256),
            lookback_slots=(1, 144),
            check_after=(0, None),
            sunset_days=(0, None),
            settle_lag=(1, 300),
            max_lateness=(600, None),
            immediate_share=(1, 99),
        )


@dataclass(frozen=True, kw_only=True)
class PacingSettings(Settings):
    """What everybody needs who paces email or shows how fast it goes.

    `emails_per_second`: 0 for nine tenths of the account's quota. `ramp_from`: emails a second
    for a cold downstream, doubled at most each `ramp_every`; 0 for no ramp. `warmup_daily`: the
    cap of `warmup_from`, a date of UTC or empty, doubled each day after. `immediate_share`: the per
    cent of all of these that is for email at once; what is left of them is for digests.
    """

    pace_table: str
    emails_per_second: int
    ramp_from: int
    ramp_every: int
    warmup_from: str
    warmup_daily: int
    immediate_share: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting. A stretch of the ramp is three waits of five seconds."""
        check(
            self,
            ramp_from=(0, 10_000),
            ramp_every=(15, 3600),
            warmup_daily=(1, 1_000_000),
            immediate_share=(1, 99),
        )
        if not 0 <= self.emails_per_second <= MAX_EMAILS_PER_SECOND:
            raise InvalidSetting(
                f"GAZETTE_EMAILS_PER_SECOND is {self.emails_per_second}; it must be 0 to "
                f"{MAX_EMAILS_PER_SECOND}: each email is a write of one row of DynamoDB, which "
                "takes little more."
            )
        try:
            if self.warmup_from:
                date.fromisoformat(self.warmup_from)
        except ValueError as err:
            raise InvalidSetting(
                f"GAZETTE_WARMUP_FROM is {self.warmup_from!r}; it must be empty or a date such as "
                "2026-11-21."
            ) from err


@dataclass(frozen=True, kw_only=True)
class SendingSettings(PacingSettings):
    """What everybody needs who sends. `mail_provider` is `ses` or `smtp`.

    What begins with `immediate` is for email that goes out at once; without it, for digests.
    `installation` names the tables: each email carries it, and so does each delivery event of it.
    `send_timeout`: the longest call of SES. `smtp_reply_timeout`: how long an SMTP server may take
    to answer once it has the message; `smtp_command_timeout`: for each stage before that.
    `evidence_grace`: how long the provider's delivery event of an email may take. `track_clicks`: 1
    where SES leads links by its own server, which the reader's own must not be; else 0.
    """

    resend_queue_url: str
    subscribers_table: str
    suppressions_table: str
    events_table: str
    runs_table: str
    control_table: str
    links_secret: str
    base_url: str
    mail_provider: str
    sender: str
    immediate_sender: str
    list_id: str
    installation: str
    configuration_set: str
    immediate_configuration_set: str
    smtp_host: str
    smtp_port: int
    smtp_security: str
    smtp_secret: str
    smtp_command_timeout: int
    smtp_reply_timeout: int
    settle_lag: int
    send_timeout: int
    commit_margin: int
    clock_skew: int
    evidence_grace: int
    max_lateness: int
    max_groups: int
    track_clicks: int
    event_retention_days: int
    run_retention_days: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting. A window must never end where a write is still under way."""
        super().__post_init__()
        check(
            self,
            send_timeout=(3, 60),
            smtp_command_timeout=(5, 60),
            smtp_reply_timeout=(60, 720),
            commit_margin=(5, None),
            clock_skew=(0, None),
            evidence_grace=(60, 86_400),
            max_lateness=(600, None),
            max_groups=(1, None),
            event_retention_days=(35, None),
        )
        check_choice(self, mail_provider=("ses", "smtp"), smtp_security=("tls", "starttls", "none"))
        if self.mail_provider == "smtp" and not self.emails_per_second:
            raise InvalidSetting(
                "GAZETTE_EMAILS_PER_SECOND is 0, the quota of SES: with GAZETTE_MAIL_PROVIDER smtp "
                "it must say how many emails a second your server takes."
            )
        if self.settle_lag * 1000 <= EVENT_WRITE_TIMEOUT_MS + self.clock_skew * 1000:
            raise InvalidSetting(
                f"GAZETTE_SETTLE_LAG is {self.settle_lag}; it must be more than "
                f"{EVENT_WRITE_TIMEOUT_MS / 1000} seconds, the longest write of an event, plus "
                f"GAZETTE_CLOCK_SKEW, which is {self.clock_skew}."
            )
        if self.smtp_security == "none" and self.smtp_secret:
            raise InvalidSetting(
                "GAZETTE_SMTP_SECURITY is 'none': the password would go over the wire as text. "
                "Use tls or starttls, or no smtp_secret."
            )
        longest = max(self.event_retention_days, LONGEST_LIFE_DAYS) + KEPT_AFTER_DAYS
        if self.run_retention_days <= longest:
            raise InvalidSetting(
                f"GAZETTE_RUN_RETENTION_DAYS is {self.run_retention_days}; it must be more than "
                f"{longest}, the days for which an event may be kept, "
                f"with GAZETTE_EVENT_RETENTION_DAYS {self.event_retention_days}: a run says which "
                "events were sent."
            )

    @property
    def send_budget(self) -> int:
        """The longest that the provider takes for one email."""
        if self.mail_provider == "ses":
            return self.send_timeout
        return smtp_budget(command=self.smtp_command_timeout, reply=self.smtp_reply_timeout)


@dataclass(frozen=True, kw_only=True)
class GenerateSettings(SendingSettings):
    """What `generate` needs."""

    schedules_table: str
    generate_queue_url: str
    shards: int


@dataclass(frozen=True, kw_only=True)
class ResendSettings(SendingSettings):
    """What `resend` needs. `failed_queue_url`: where failed runs wait for a person.

    `check_after`: when the sweep looks at a run that a redrive has started. `shards`: as in
    FanoutSettings, because it writes schedules.
    """

    schedules_table: str
    failed_queue_url: str
    shards: int
    check_after: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting."""
        super().__post_init__()
        check(self, shards=(1, 256), check_after=(0, None))
