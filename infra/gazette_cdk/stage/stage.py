"""A stage, with the settings of one installation and the values derived from the settings."""

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from email.utils import parseaddr

from gazette.settings.budgets import invocation_of_one, smtp_budget
from gazette.settings.feedback import REPORTED
from gazette.settings.ranges import SECOND

from gazette_cdk.concurrency import (
    MOST_WITHOUT_WINDOW,
    Load,
    Size,
    answering,
    digest_rate,
    sending_memory,
    sizes,
)
from gazette_cdk.services import RATE, RETURN, ROUTES, Route
from gazette_cdk.stage.checks.addresses import is_under
from gazette_cdk.stage.clocks import Advanced, Internals
from gazette_cdk.stage.content import Content
from gazette_cdk.stage.links import Links
from gazette_cdk.stage.owner import Owner
from gazette_cdk.stage.readers import Readers
from gazette_cdk.stage.reports import Reports
from gazette_cdk.stage.sending import Sending
from gazette_cdk.stage.speed import Speed
from gazette_cdk.stage.storage import Storage
from gazette_cdk.stage.unknown import Unknown
from gazette_cdk.topology import (
    API,
    API_WRITES,
    CONTENT,
    FEEDBACK,
    GENERATE,
    INGEST,
    OUTBOX,
    RESEND,
    STEPS,
    SUPPORT,
    SUPPORT_REDRIVE,
    TABLES,
    Step,
)

_REQUESTS = 10
"""The default number of concurrent requests to the recommendation service."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A kind of email (digests or immediate emails) with its own sender, configuration set and IP
    pool.
    """

    name: str
    sender: str
    pool: str

    @property
    def address(self) -> str:
        """The address in `sender`, without the display name."""
        return parseaddr(self.sender)[1]


@dataclass(frozen=True, kw_only=True)
class Stage(
    Owner, Readers, Content, Sending, Speed, Reports, Unknown, Links, Storage, Advanced, Internals
):
    """One installation of Gazette. The base classes define its settings.

    The docstring of a setting begins with the unit in brackets, if any. gazette.settings.ranges
    defines the units of durations. The second paragraph of the docstring gives the allowed values
    and the effect of a bad value.
    """

    name: str

    @property
    def links_are_in_zone(self) -> bool:
        """True if the records of `links_domain` belong in the stage's own zone."""
        zone = self.hosted_zone.get("name", "")
        return bool(zone) and is_under(self.links_host, zone)

    @property
    def streams(self) -> tuple[Stream, Stream]:
        """The streams: digests and immediate emails."""
        return (
            Stream("digest", self.sender, self.digest_pool),
            Stream("immediate", self.immediate_sender or self.sender, self.immediate_pool),
        )

    @property
    def steps(self) -> tuple[Step, ...]:
        """The functions of this stage."""
        return (
            *STEPS,
            *((CONTENT,) if self.asks_source else ()),
            *((OUTBOX,) if self.events_out else ()),
            *((API, API_WRITES) if self.services_api else ()),
            *((SUPPORT, SUPPORT_REDRIVE) if self.dashboard else ()),
        )

    @property
    def out_bus(self) -> str:
        """The event bus on which Gazette publishes events out."""
        return f"gazette-{self.name}-out"

    @property
    def reporters(self) -> tuple[str, ...]:
        """The sources that may report delivery events of any mail provider on the bus."""
        listed = self.sources.get(REPORTED, ())
        return tuple(listed) if isinstance(listed, list) else ()

    @property
    def accepts_reports(self) -> bool:
        """True if services may report delivery events, on the bus or through the API."""
        return bool(self.reporters or self.services_api)

    @property
    def services_rate(self) -> int:
        """The rate limit of the API for services; 0 if the stage has no API."""
        return self.services_api.get(RATE, 0)

    @property
    def service_routes(self) -> tuple[Route, ...]:
        """The routes of the API for services."""
        routes = ROUTES if self.services_api else ()
        return tuple(
            each for each in routes if not each.option or self.services_api.get(each.option)
        )

    @property
    def accepts_consent(self) -> bool:
        """True if services may return subscribers on a new consent."""
        return bool(self.services_api.get(RETURN))

    @property
    def digest_rate(self) -> float:
        """The rate of digests for which the stage is sized, in emails per second."""
        return digest_rate(self.emails_per_second, self.immediate_share)

    @property
    def sending_memory(self) -> int:
        """The memory of the functions that send email, in MB."""
        return sending_memory(self.digest_rate)

    @property
    def sizes(self) -> dict[str, Size]:
        """The size (concurrency) of each function and of `immediate`, by name
        (gazette_cdk.concurrency).
        """
        tracked = self.track_clicks + self.track_opens
        reports = (1 + self.report_deliveries + tracked) * (1 + self.feedback_by_sns)
        by_name = dict(
            sizes(
                Load(
                    emails_per_second=self.emails_per_second,
                    immediate_share=self.immediate_share,
                    shards=self.shards,
                    reports=reports,
                    requests_per_second=self.requests_per_second,
                    by_smtp=self.mail_provider == "smtp",
                )
            )
        )
        if not self.feedback_window:
            by_name[FEEDBACK.name] = replace(by_name[FEEDBACK.name], batch=MOST_WITHOUT_WINDOW)
        if self.asks_source:
            by_name[CONTENT.name] = Size(_REQUESTS, CONTENT.batch_size)
        for name, chosen in self.concurrency.items():
            if name in by_name:
                by_name[name] = replace(by_name[name], concurrency=chosen)
        if self.events_out:
            streams = sum(table.has_stream for table in TABLES)
            by_name[OUTBOX.name] = Size(streams, OUTBOX.batch_size)
        if self.services_api:
            by_name |= dict.fromkeys((API.name, API_WRITES.name), answering(self.services_rate))
        if self.preferences_concurrency:
            by_name["preferences"] = Size(self.preferences_concurrency)
        return by_name

    def size_of(self, step: Step, queue: str) -> Size:
        """Return the size (concurrency) of the event source mapping between a queue and a step."""
        size = self.sizes[step.name if queue == step.queue else queue]
        return replace(size, batch=min(size.batch, step.batch_size))

    def window_of(self, step: Step, queue: str) -> timedelta:
        """Return the batching window of the event source mapping between a queue and a step.

        In a quiet stage, any window except 0 lasts up to 20 seconds.
        https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
        """
        windows = {INGEST.name: self.ingest_window, FEEDBACK.name: self.feedback_window}
        return windows.get(step.name) or self.size_of(step, queue).window

    def sized(self, step: Step) -> Step:
        """Return the step with the memory, batch size and time-out that are appropriate for this
        stage.

        An SMTP server may take ten minutes for an email. With SMTP, sending functions therefore
        receive one message per invocation and have a longer time-out. Otherwise messages would
        return to the queue for lack of time.
        """
        if step not in {GENERATE, RESEND}:
            return step
        step = replace(step, memory=self.sending_memory)
        if self.mail_provider != "smtp":
            return step
        budget = smtp_budget(reply=self.smtp_reply_timeout)
        timeout = invocation_of_one(budget=budget)
        return replace(step, batch_size=1, timeout=math.ceil(timeout / SECOND))


ROOMS = Stage.__bases__
"""The groups of settings, in the order of docs/configuration.md."""
