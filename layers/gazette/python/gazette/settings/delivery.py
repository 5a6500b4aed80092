"""What `generate` and `resend` need to send email."""

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
    """What is needed to send email, and to route again what waits in a run (rule 15).

    Settings that begin with `immediate` are for immediate email, the others for digests.
    `immediate_unsubscribe`: what a mail program's button ends beside an immediate email, `category`
    or `everything`. `installation` names the tables: each email and each of its delivery events
    carries it. `send_timeout`: the longest call of SES. `smtp_reply_timeout`: how long an SMTP
    server may take to answer once it has the message; `smtp_command_timeout`: for each stage before
    that.
    `evidence_grace`: how long the provider's delivery event of an email may take. `track_clicks`: 1
    where links go through the server of SES, except those to the reader's own pages; else 0.
    `templates_bucket`: where pushed versions of the templates are.
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
    installation: str
    configuration_set: str
    immediate_configuration_set: str
    smtp_host: str
    smtp_port: int
    smtp_security: str
    smtp_secret: str
    smtp_command_timeout: int
    smtp_reply_timeout: int
    send_timeout: int
    commit_margin: int
    evidence_grace: int
    max_lateness: int
    track_clicks: int
    templates_bucket: str

    def __post_init__(self) -> None:
        """Raises InvalidSetting for values out of range, and for those that do not go together."""
        super().__post_init__()
        if self.mail_provider == "smtp" and not self.emails_per_second:
            raise InvalidSetting(
                "GAZETTE_EMAILS_PER_SECOND is 0, the quota of SES; with GAZETTE_MAIL_PROVIDER smtp "
                "it must say how many emails a second your server takes."
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
                "GAZETTE_SMTP_SECURITY is 'none': the password would go over the wire as text. "
                "Use tls or starttls, or no smtp_secret."
            )
        longest = longest_kept(timedelta(days=self.event_retention_days)).days
        if self.run_retention_days <= longest:
            raise InvalidSetting(
                f"GAZETTE_RUN_RETENTION_DAYS is {self.run_retention_days}; it must be more than "
                f"{longest}, the days for which an event may be kept, "
                f"with GAZETTE_EVENT_RETENTION_DAYS {self.event_retention_days}: a run says which "
                "events were sent."
            )

    @property
    def send_budget(self) -> int:
        """The longest that the provider may take for one email."""
        if self.mail_provider == "ses":
            return self.send_timeout
        return smtp_budget(command=self.smtp_command_timeout, reply=self.smtp_reply_timeout)


@dataclass(frozen=True, kw_only=True)
class GenerateSettings(SendingSettings):
    """What `generate` needs.

    `content_queue_url`: where content sources are asked, if one is. `recommendations_fresh_for` is
    in minutes, `recommendations_patience` in seconds.
    """

    content_queue_url: str
    recommendations_fresh_for: int
    recommendations_policy: str
    recommendations_patience: int
    generate_queue_url: str


@dataclass(frozen=True, kw_only=True)
class ResendSettings(SendingSettings):
    """What `resend` needs. `failed_queue_url`: where failed runs wait for a person."""

    failed_queue_url: str
