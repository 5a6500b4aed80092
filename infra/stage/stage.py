"""A stage: the settings of one installation, and what follows from them."""

from dataclasses import dataclass, replace
from email.utils import parseaddr

from gazette.settings.budgets import invocation_of_one, smtp_budget
from gazette.settings.concurrency import Load, Size, sizes

from infra.stage.checks.addresses import is_under
from infra.stage.clocks import Clocks
from infra.stage.content import Content
from infra.stage.links import Links
from infra.stage.owner import Owner
from infra.stage.readers import Readers
from infra.stage.reports import Reports
from infra.stage.sending import Sending
from infra.stage.speed import Speed
from infra.stage.storage import Storage
from infra.stage.unknown import Unknown
from infra.topology import CONTENT, FEEDBACK, GENERATE, INGEST, RESEND, STEPS, Step


@dataclass(frozen=True, slots=True)
class Stream:
    """Emails with a sender, a configuration set and perhaps a dedicated IP pool of their own."""

    name: str
    sender: str
    pool: str

    @property
    def address(self) -> str:
        """The address in `sender`, without the display name."""
        return parseaddr(self.sender)[1]


ROOMS = (Owner, Readers, Content, Sending, Speed, Reports, Unknown, Links, Storage, Clocks)
"""The groups of settings, in the order of docs/configuration.md."""


@dataclass(frozen=True, kw_only=True)
class Stage(Owner, Readers, Content, Sending, Speed, Reports, Unknown, Links, Storage, Clocks):
    """One installation. Its settings are in the modules of the classes that it is made of.

    The text below a setting begins with its unit in brackets, if it has one. Its second paragraph
    says what happens when the value is wrong.
    """

    name: str

    @property
    def links_are_in_zone(self) -> bool:
        """Whether the records of `links_domain` belong in the stage's own zone."""
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
        return (*STEPS, CONTENT) if self.asks_source else STEPS

    @property
    def sizes(self) -> dict[str, Size]:
        """The size of each function, and of `immediate`, as `gazette.settings.concurrency` says."""
        tracked = self.track_clicks + self.track_opens
        reports = (1 + self.report_deliveries + tracked) * (1 + self.feedback_by_sns)
        found = dict(
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
        for name, chosen in self.concurrency.items():
            found[name] = replace(found[name], concurrency=chosen)
        if self.asks_source:
            found[CONTENT.name] = Size(self.recommendations_concurrency, CONTENT.batch_size)
        if self.preferences_concurrency:
            found["preferences"] = Size(self.preferences_concurrency)
        return found

    def size_of(self, step: Step, queue: str) -> Size:
        """The size of the mapping from a queue of the step."""
        size = self.sizes[step.name if queue == step.queue else queue]
        return replace(size, batch=min(size.batch, step.batch_size))

    def window_of(self, step: Step) -> int:
        """For how many seconds Lambda gathers messages for one invocation of the step.

        Where little happens, any window lasts up to 20 seconds.
        https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
        """
        return {INGEST.name: self.ingest_window, FEEDBACK.name: self.feedback_window}.get(
            step.name, 0
        )

    def sized(self, step: Step) -> Step:
        """The step with the batch size and time-out that this stage needs.

        An SMTP server may take ten minutes for an email. So with SMTP, sending functions get one
        message per invocation, and enough time for it: none returns to the queue for lack of time.
        """
        if self.mail_provider != "smtp" or step not in {GENERATE, RESEND}:
            return step
        budget = smtp_budget(command=self.smtp_command_timeout, reply=self.smtp_reply_timeout)
        timeout = invocation_of_one(budget=budget, commit_margin=self.commit_margin)
        return replace(step, batch_size=1, timeout=timeout)
