"""What is reported."""

from collections.abc import Iterator
from dataclasses import dataclass

from infra.stage.checks.addresses import wrong_domain
from infra.stage.checks.wrong import Wrong


@dataclass(frozen=True, kw_only=True)
class Reports:
    """What is reported."""

    track_clicks: bool = False
    """SES routes links through its own server and reports clicks; a click is a sign of life.

    Needs `ses`."""

    track_opens: bool = False
    """SES adds a picture to each email and reports who fetched it.

    Needs `ses`."""

    opens_are_life: bool = False
    """An open is a sign of life of the reader.

    Needs `track_opens`."""

    tracking_domain: str = ""
    """The host of the links and pictures that SES tracks. Empty: a host of SES.

    It must serve HTTPS: a CloudFront of yours before `r.REGION.awstrack.me`, under a domain that
    is verified in SES. Otherwise links are broken. Needs `track_clicks` or `track_opens`."""

    feedback_by_sns: bool = False
    """SES sends its events through an SNS topic too, because EventBridge may lose one.

    Needs `ses`."""

    report_deliveries: bool = True
    """SES reports each email that a receiving server took, beside each that SES itself accepted.

    `false`: cheaper by a message and a write for each email. Statistics call emails unconfirmed
    instead of delivered, the metric `mail_delivered` is missing, and of an email whose outcome is
    unknown there is one proof instead of two: if SES loses its report, `resend` sends it again.
    Needs `ses`."""

    soft_bounces: int = 5
    """[messages] How many messages may bounce softly within `soft_bounce_days` before the address
    is suppressed. Three in a row over that time, or over two weeks, suppress it too.

    1 to 100."""

    soft_bounce_days: int = 14
    """[days] The period in which soft bounces count.

    1 to 365."""

    category_hold: bool = True
    """Holds a category when too many of its emails bounce or draw complaints.

    `false`: nothing is counted, and SES may review your account for one bad category."""


def wrong_with_reports(reports: Reports) -> Iterator[Wrong]:
    """What no stage may say of what is reported."""
    if reports.opens_are_life and not reports.track_opens:
        yield Wrong(
            "opens_are_life needs track_opens: else no open is reported.",
            of=("opens_are_life", "track_opens"),
        )
    yield from wrong_domain("tracking_domain", reports.tracking_domain)
    if reports.tracking_domain and not (reports.track_clicks or reports.track_opens):
        yield Wrong(
            "tracking_domain needs track_clicks or track_opens: else nothing leads there.",
            of=("tracking_domain", "track_clicks", "track_opens"),
        )
