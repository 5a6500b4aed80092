"""Tracking, delivery reports and bounces."""

from collections.abc import Iterator
from dataclasses import dataclass

from infra.stage.checks.addresses import wrong_domain
from infra.stage.checks.wrong import Wrong


@dataclass(frozen=True, kw_only=True)
class Reports:
    """Tracking, reports and bounces."""

    track_clicks: bool = False
    """SES routes links through its own server and reports clicks. A click counts as activity.

    Needs `ses`."""

    track_opens: bool = False
    """SES adds a tracking pixel to each email and reports opens.

    Needs `ses`."""

    opens_are_life: bool = False
    """An open counts as activity of the reader.

    Needs `track_opens`."""

    tracking_domain: str = ""
    """The host of the links and pixels that SES tracks. Empty: a host of SES.

    It must serve HTTPS: a CloudFront distribution of yours with the origin `r.REGION.awstrack.me`
    and a domain that is verified in SES. Otherwise links are broken. Needs `track_clicks` or
    `track_opens`."""

    feedback_by_sns: bool = False
    """SES also publishes its events to an SNS topic, because EventBridge may lose one.

    Needs `ses`."""

    report_deliveries: bool = True
    """SES reports each email that a receiving server accepted, in addition to each email that SES
    itself accepted.

    `false` saves a message and a write for each email. Statistics then count emails as unconfirmed
    instead of delivered, and the metric `mail_delivered` is missing. An email with an unknown
    outcome has only one proof instead of two: if SES loses that report, `resend` sends a
    duplicate. Needs `ses`."""

    soft_bounces: int = 5
    """[messages] The number of soft bounces within `soft_bounce_days` that suppresses an address.
    Three in a row over that time, or over two weeks, suppress it too.

    1 to 100."""

    soft_bounce_days: int = 14
    """[days] The period in which soft bounces count.

    1 to 365."""

    category_hold: bool = True
    """Gazette puts a category on hold if too many of its emails bounce or draw complaints.

    `false`: Gazette does not count them, and AWS may review your account because of one
    category."""


def wrong_with_reports(reports: Reports) -> Iterator[Wrong]:
    """Yield the problems with the reports."""
    if reports.opens_are_life and not reports.track_opens:
        yield Wrong(
            "opens_are_life needs track_opens. Otherwise SES does not report opens.",
            of=("opens_are_life", "track_opens"),
        )
    yield from wrong_domain("tracking_domain", reports.tracking_domain)
    if reports.tracking_domain and not (reports.track_clicks or reports.track_opens):
        yield Wrong(
            "tracking_domain needs track_clicks or track_opens. Otherwise no link leads there.",
            of=("tracking_domain", "track_clicks", "track_opens"),
        )
