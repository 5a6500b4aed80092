"""Settings of `generate` and `resend`, which send email."""

from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.scheduling.lifetime import longest_kept
from gazette.settings.arrangement import ArrangementSettings
from gazette.settings.budgets import EVENT_WRITE_TIMEOUT_MS, MAX_RATE_WITH_SMTP, smtp_budget
from gazette.settings.environment import InvalidSetting
from gazette.settings.ingest import RoutingSettings
from gazette.settings.pacing import PacingSettings

LEAVES_ALL = "everything"
"""The value of `immediate_unsubscribe` with which an immediate email ends all email."""


@dataclass(frozen=True, kw_only=True)
class SendingSettings(ArrangementSettings, PacingSettings, RoutingSettings):
    """Settings to send email, and to route waiting events of a run again (rule 15).

    Settings whose names begin with `immediate` apply to immediate email, the others to digests.
    """

    resend_queue_url: str
    suppressions_table: str
    suppressions_secret: str
    links_secret: str
    base_url: str
    mail_provider: str
    sender: str
    immediate_sender: str
    list_id: str
    immediate_unsubscribe: str
    """The scope of a mail program's unsubscribe button on an immediate email: `category` or
    `everything`."""

    installation: str
    """The identity of the tables. Each email and each of its delivery events carries it."""

    configuration_set: str
    immediate_configuration_set: str
    smtp_host: str
    smtp_port: int
    smtp_security: str
    smtp_secret: str
    smtp_command_timeout: int
    """The time for the connection and for each command before the message ends."""

    smtp_reply_timeout: int
    """The time for the server's answer to the whole message."""

    send_timeout: int
    """The longest call of SES."""

    commit_margin: int
    evidence_grace: int
    """The time within which the provider's delivery event of an email must arrive."""

    max_lateness: int
    track_clicks: int
    """1 if links lead through the server of SES, except those to the reader's own pages; else 0."""

    templates_bucket: str
    """The bucket of the pushed versions of the templates."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting for values out of range and for contradictory values."""
        super().__post_init__()
        if self.mail_provider == "smtp" and not self.emails_per_second:
            raise InvalidSetting(
                "GAZETTE_EMAILS_PER_SECOND is 0, the quota of SES; with GAZETTE_MAIL_PROVIDER smtp "
                "it must be the number of emails per second that your server accepts."
            )
        if self.mail_provider == "smtp" and self.emails_per_second > MAX_RATE_WITH_SMTP:
            raise InvalidSetting(
                f"GAZETTE_EMAILS_PER_SECOND is {self.emails_per_second}; with "
                f"GAZETTE_MAIL_PROVIDER smtp it must be at most {MAX_RATE_WITH_SMTP}."
            )
        if self.settle_lag * 1000 <= EVENT_WRITE_TIMEOUT_MS + self.clock_skew * 1000:
            raise InvalidSetting(
                f"GAZETTE_SETTLE_LAG is {self.settle_lag}; it must be more than "
                f"{EVENT_WRITE_TIMEOUT_MS / 1000} seconds, the longest write of an event, plus "
                f"GAZETTE_CLOCK_SKEW, which is {self.clock_skew}."
            )
        if self.smtp_security == "none" and self.smtp_secret:
            raise InvalidSetting(
                "GAZETTE_SMTP_SECURITY is 'none', which would send the password in plain text. "
                "Use tls or starttls, or no smtp_secret."
            )
        longest = longest_kept(timedelta(days=self.event_retention_days)).days
        if self.run_retention_days <= longest:
            raise InvalidSetting(
                f"GAZETTE_RUN_RETENTION_DAYS is {self.run_retention_days}; it must be more than "
                f"{longest}, the days for which an event may be kept, "
                f"with GAZETTE_EVENT_RETENTION_DAYS {self.event_retention_days}. A run records "
                "which events were sent."
            )

    @property
    def send_budget(self) -> int:
        """The longest that the provider may take for one email."""
        if self.mail_provider == "ses":
            return self.send_timeout
        return smtp_budget(command=self.smtp_command_timeout, reply=self.smtp_reply_timeout)


@dataclass(frozen=True, kw_only=True)
class GenerateSettings(SendingSettings):
    """Settings of `generate`."""

    content_queue_url: str
    """The queue of the function that queries content sources. Empty for a stage without them."""

    recommendations_fresh_for: int
    """The age in minutes up to which items are fresh when the digest is due."""

    recommendations_policy: str
    recommendations_patience: int
    """The seconds for which a digest waits for its items."""

    generate_queue_url: str


@dataclass(frozen=True, kw_only=True)
class ResendSettings(SendingSettings):
    """Settings of `resend`."""

    failed_queue_url: str
    """The queue of failed runs, which a person decides."""
