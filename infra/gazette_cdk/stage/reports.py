"""Settings of tracking, delivery reports and bounces."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gazette.settings.outbox import ADDRESS

from gazette_cdk.stage.checks.addresses import wrong_domain
from gazette_cdk.stage.checks.wrong import Wrong


@dataclass(frozen=True, kw_only=True)
class Reports:
    """Tracking, reports and bounces."""

    track_clicks: bool = False
    """Click tracking. SES routes links through its own server and reports clicks. A click counts as
    activity.

    Needs `ses`.
    """

    track_opens: bool = False
    """Open tracking. SES adds a tracking pixel to each email and reports opens.

    Needs `ses`.
    """

    opens_are_life: bool = False
    """Counting of opens as activity. With `true`, an open counts as activity of the reader, like a
    click.

    Needs `track_opens`.
    """

    tracking_domain: str = ""
    """The host of tracked links and pixels. Empty: a host of SES.

    Must serve HTTPS through your own CloudFront distribution with the origin
    `r.REGION.awstrack.me`, and its domain must be verified in SES. Otherwise tracked links are
    broken. Needs `track_clicks` or `track_opens`.
    """

    feedback_by_sns: bool = False
    """An additional SNS topic to which SES publishes delivery events, because EventBridge may lose
    an event.

    Needs `ses`.
    """

    report_deliveries: bool = True
    """Delivery reports. SES reports each email that a receiving server accepted, in addition to
    each email that SES itself accepted.

    `false`: saves an SQS message and a DynamoDB write for each email. Statistics then count emails
    as unconfirmed instead of delivered, and the `mail_delivered` metric is missing. An unknown
    outcome is then resolved by a single report instead of two. If SES loses this report, `resend`
    sends a duplicate. Needs `ses`.
    """

    soft_bounces: int = 5
    """[messages] The number of soft bounces within `soft_bounce_days` that suppresses an address.
    Three consecutive soft bounces also suppress the address if they are spread over at least
    `soft_bounce_days` and at least two weeks.

    1 to 100.
    """

    soft_bounce_days: int = 14
    """[days] The period in which soft bounces are counted.

    1 to 365.
    """

    events_out: list[str] = field(default_factory=list)
    """The types of [events](events/README.md#events-out) that Gazette publishes on the event bus
    `gazette-<stage>-out`, such as `["subscriber.left", "email.bounced"]`. The entry `address` adds
    the reader's address to events about subscribers. Empty: no events and no event bus.

    Each entry must be a type in the list of events out, or `address`. Deployments with `retain`
    keep the event bus after the list is empty. Delete the bus before you list types again, because
    the deployment cannot create it a second time.
    """

    category_hold: bool = True
    """Automatic holds. Gazette puts a category on hold if too many emails of the category bounce or
    cause complaints.

    `false`: Gazette does not count bounces and complaints by category, and AWS may review your
    account because of a single category.
    """


def wrong_with_reports(reports: Reports) -> Iterator[Wrong]:
    """Yield the problems with the settings of reports."""
    if reports.opens_are_life and not reports.track_opens:
        yield Wrong(
            "opens_are_life needs track_opens. Otherwise SES does not report opens.",
            of=("opens_are_life", "track_opens"),
        )
    if set(reports.events_out) == {ADDRESS}:
        yield Wrong(
            f"events_out has only {ADDRESS}. List a type of event, such as subscriber.left.",
            of=("events_out",),
        )
    yield from wrong_domain("tracking_domain", reports.tracking_domain)
    if reports.tracking_domain and not (reports.track_clicks or reports.track_opens):
        yield Wrong(
            "tracking_domain needs track_clicks or track_opens. Otherwise no link leads there.",
            of=("tracking_domain", "track_clicks", "track_opens"),
        )
