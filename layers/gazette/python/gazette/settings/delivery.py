"""The settings of `generate` and `resend`, which send email, and of the support page."""

import json
from dataclasses import dataclass, fields
from datetime import timedelta

from gazette.domain.delivery.batching import MOST_TOGETHER
from gazette.domain.scheduling.lifetime import longest_kept
from gazette.domain.scheduling.limits import EVENT_WRITE_TIMEOUT, DeliveryLimits
from gazette.domain.subscribers.addresses import AllowedRecipients
from gazette.domain.window.worth import MOST_DAYS, Worth
from gazette.settings.arrangement import ArrangementSettings
from gazette.settings.budgets import MAX_RATE_WITH_SMTP, smtp_budget
from gazette.settings.environment import InvalidSetting, check_list
from gazette.settings.ingest import RoutingSettings
from gazette.settings.pacing import PacingSettings
from gazette.settings.ranges import ASKED_SOURCE, SECOND

LONGEST_ALLOWED_RECIPIENTS = 1000
"""The maximum length of `allowed_recipients` as JSON, in characters.

Lambda allows 4 KB of environment variables per function.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""

LEAVES_ALL = "everything"
"""The value of `immediate_unsubscribe` for which the mail program's unsubscribe button stops all
email."""


@dataclass(frozen=True, kw_only=True)
class SendingSettings(DeliveryLimits, ArrangementSettings, PacingSettings, RoutingSettings):
    """The settings for sending email and for rerouting waiting events of a run (rule 15).

    If a setting exists with and without the prefix `immediate_`, the setting with the prefix
    applies to immediate email and the other setting to digests.
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
    allowed_recipients: str
    """The only recipients of email, as a JSON list for AllowedRecipients.of; `[]` for everyone."""

    immediate_unsubscribe: str
    """The scope of the unsubscribe button that mail programs show on immediate emails.

    Either `category` or `everything`.
    """

    installation: str
    """The identifier of this installation's tables. Each email and its delivery events contain
    it."""

    configuration_set: str
    immediate_configuration_set: str
    smtp_host: str
    smtp_port: int
    smtp_security: str
    smtp_secret: str
    smtp_reply_timeout: timedelta
    """The time limit for the server's response to the whole message."""

    track_clicks: int
    """1 if SES tracks clicks on links, except links to the reader's own pages; else 0.

    Tracked links point to a server of SES, which redirects to the target.
    """

    templates_bucket: str
    """The bucket that contains the pushed template versions."""

    digest_worth: str
    """The minimum score of a daily digest and the longest wait, as JSON; `{}` for no minimum."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting for values that are out of range, and for contradictory values."""
        super().__post_init__()
        _check_allowed_recipients(self.allowed_recipients)
        if self.mail_provider == "smtp" and not self.emails_per_second:
            raise InvalidSetting(
                "GAZETTE_EMAILS_PER_SECOND is 0, which means the SES quota; with "
                "GAZETTE_MAIL_PROVIDER smtp it must be the number of emails per second that your "
                "server accepts."
            )
        if self.mail_provider == "smtp" and self.emails_per_second > MAX_RATE_WITH_SMTP:
            raise InvalidSetting(
                f"GAZETTE_EMAILS_PER_SECOND is {self.emails_per_second}; with "
                f"GAZETTE_MAIL_PROVIDER smtp it must be at most {MAX_RATE_WITH_SMTP}."
            )
        if self.settle_lag <= EVENT_WRITE_TIMEOUT + self.clock_skew:
            raise InvalidSetting(
                f"GAZETTE_SETTLE_LAG is {self.settle_lag // SECOND}; it must be more than "
                f"{EVENT_WRITE_TIMEOUT / SECOND} seconds, the longest write of an event, plus "
                f"GAZETTE_CLOCK_SKEW, which is {self.clock_skew // SECOND}."
            )
        if self.smtp_security == "none" and self.smtp_secret:
            raise InvalidSetting(
                "GAZETTE_SMTP_SECURITY is 'none', which would send the password in plain text. "
                "Use tls or starttls, or remove smtp_secret."
            )
        _read_worth(self.digest_worth)
        longest = longest_kept(self.event_retention).days
        if self.run_retention_days <= longest:
            raise InvalidSetting(
                f"GAZETTE_RUN_RETENTION_DAYS is {self.run_retention_days}; it must be more than "
                f"{longest}, the days for which an event may be kept if "
                f"GAZETTE_EVENT_RETENTION_DAYS is {self.event_retention_days}. A run records "
                "which events were sent."
            )

    @property
    def worth(self) -> Worth | None:
        """The minimum for daily digests; None if there is none."""
        read = _read_worth(self.digest_worth)
        if read is None:
            return None
        least, days = read
        weights = self.arrangement.weights
        return Worth(score=least, longest_wait=timedelta(days=days), weights=weights)

    @property
    def allowed(self) -> AllowedRecipients:
        """The recipients to whom this stage sends email."""
        return AllowedRecipients.of(json.loads(self.allowed_recipients))

    @property
    def most_together(self) -> int:
        """The maximum number of emails per invocation that the mail provider allows.

        With SMTP, each email has an invocation of its own.
        """
        return MOST_TOGETHER if self.mail_provider == "ses" else 1

    @property
    def limits(self) -> DeliveryLimits:
        """The limits of a delivery: these settings, except that SMTP has a longer time-out."""
        if self.mail_provider == "ses":
            return self
        budget = smtp_budget(reply=self.smtp_reply_timeout)
        limits = {limit.name: getattr(self, limit.name) for limit in fields(DeliveryLimits)}
        return DeliveryLimits(**limits | {"send_timeout": budget})


_HIGHEST = 10_000
"""The highest minimum score, which is far above the score of a usual digest."""


def _read_worth(text: str) -> tuple[float, int] | None:
    """Return the score and the number of days in `digest_worth`, or None if it is empty."""
    try:
        minimum = json.loads(text)
    except ValueError:
        minimum = None
    if minimum == {}:
        return None
    if isinstance(minimum, dict) and minimum.keys() == {"score", "days"}:
        least, days = minimum["score"], minimum["days"]
        is_score = type(least) in {int, float} and 0 < least <= _HIGHEST
        if is_score and type(days) is int and 1 <= days <= MOST_DAYS:
            return float(least), days
    raise InvalidSetting(
        f'GAZETTE_DIGEST_WORTH is {text!r}; it must be {{}} or {{"score": NUMBER, "days": DAYS}}, '
        f"with a score of more than 0 and at most {_HIGHEST}, and 1 to {MOST_DAYS} days."
    )


def _check_allowed_recipients(text: str) -> None:
    """Raise InvalidSetting for a list that is too long or invalid, so that no email is sent."""
    check_list(
        "GAZETTE_ALLOWED_RECIPIENTS",
        text,
        longest=LONGEST_ALLOWED_RECIPIENTS,
        shorten="Write @example.com for all addresses of a domain.",
        entries="addresses and domains",
        parse=AllowedRecipients.of,
    )


@dataclass(frozen=True, kw_only=True)
class GenerateSettings(SendingSettings):
    """The settings of `generate`."""

    content_queue_url: str
    """The queue of queries to content sources; empty for a stage without content sources."""

    recommendations_fresh_for: timedelta
    """The maximum age of fetched items at the time when the digest is due."""

    recommendations_policy: str
    recommendations_patience: timedelta
    """The time for which a digest waits for its items."""

    generate_queue_url: str


@dataclass(frozen=True, kw_only=True)
class ResendSettings(SendingSettings):
    """The settings of `resend`."""

    failed_queue_url: str
    """The queue of failed runs, which wait for a decision by an operator."""


@dataclass(frozen=True, kw_only=True)
class SupportSettings(SendingSettings):
    """The settings of `support` and `support_redrive`, which forecast what `generate` would do."""

    stage_name: str
    """The name of the stage, which is part of the names of its queues."""

    content_sources: str
    """The content sources, as JSON. Only a stage that queries a service has a queue of queries."""

    engagement_table: str
    ticks: int
    """1 if fan-out runs on a timer; else 0."""

    @property
    def queries_source(self) -> bool:
        """True if the stage queries a content source."""
        return ASKED_SOURCE in json.loads(self.content_sources)
