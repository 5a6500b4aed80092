"""Settings of clocks and time-outs, of the dashboard, and switches for development."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, kw_only=True)
class Advanced:
    """Advanced settings."""

    dashboard: bool = True
    """The CloudWatch dashboard `gazette-<stage>`, and the support page on the dashboard
    `gazette-<stage>-support`. The first three dashboards of an account are free, and each further
    one costs $3 a month.

    `false`: neither of the two.
    """

    ticks: bool = True
    """The clock, which starts digests and the sweep.

    `false`: digests do not start automatically.
    """

    host_layers: bool = False
    """Layers that are built for this machine instead of for Lambda. The embedded engine needs these
    layers.

    If `true` on a platform that differs from Lambda's, deployed functions cannot import their
    libraries.
    """


@dataclass(frozen=True, kw_only=True)
class Internals:
    """Internals.

    Do not change these settings in production. Gazette's [rules](protocol.md) depend on them, and
    their sums fit the time-outs of the functions. A wrong value can lose events or send duplicates.
    """

    settle_lag: timedelta = timedelta(seconds=15)
    """The delay between the end of a window and the time at which Gazette reads the window, so that
    late writes are visible.

    Must be at most 300, and more than `clock_skew` plus 1.5 seconds (the longest duration of a
    write). Too short: events could be missed.
    """

    clock_skew: timedelta = timedelta(seconds=5)
    """The maximum difference between the clocks of two functions.

    0 to 60."""

    check_after: timedelta = timedelta(hours=1)
    """The delay between the due time of an unsent run and the first check of the run by the sweep.

    0 or more. Too short: unnecessary messages. Too long: a lost message is detected later.
    """

    send_timeout: timedelta = timedelta(seconds=10)
    """The time-out of an SES request, which sends one email.

    3 to 60. Too short: more unknown outcomes.
    """

    smtp_reply_timeout: timedelta = timedelta(minutes=10)
    """The time-out for the SMTP server's reply after the server has received the message.

    60 to 720. Each of the nine SMTP steps before has 20 seconds. All steps for an email must fit in
    one invocation (900 seconds). Too short: more unknown outcomes.
    """
