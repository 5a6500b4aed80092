"""The settings of a stage. docs/configuration.md is made from the text below each of them."""

from dataclasses import dataclass, field, replace
from email.utils import parseaddr

from gazette.settings.budgets import invocation_of_one, smtp_budget
from gazette.settings.concurrency import Load, Size, sizes

from infra.topology import FEEDBACK, GENERATE, INGEST, RESEND, Step, Table

NOTHING = "none"
"""What `alarm_email` and `links_domain` say where a stage means to have none."""


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


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One installation.

    The text below a setting begins with its unit in brackets, if it has one. Its second paragraph
    says what happens when the value is wrong.
    """

    name: str

    sender: str
    """Who email comes from, such as `Shop <digest@shop.example>`; an identity verified in SES.

    SES refuses what it has not verified: the circuit breaker opens."""

    list_id: str
    """Names your list to mail programs (RFC 2919), such as `digest.shop.example`.

    Only letters, digits, dots and hyphens."""

    alarm_email: str = ""
    """Who gets the alarms, by an email subscription that they have to confirm. `none`: nobody.

    Empty: synthesis refuses it with `retain`, because alarms would reach nobody."""

    runbook_url: str = ""
    """Where your team reads docs/runbook, such as `https://git.shop.example/gazette/docs/runbook`:
    the text of each alarm then ends with the whole address of its page. Empty: its path.

    Must begin with `https://` or `http://`, end without a slash; 200 characters at most."""

    account: str = ""
    """The AWS account of this stage, such as `123456789012`. Empty: that of your credentials.

    Twelve digits. The CDK refuses to deploy with credentials of another account."""

    region: str = ""
    """The region of this stage, such as `eu-central-1`. Empty: that of your credentials.

    What is no region's name is refused. A stage that is deployed and then gets another region is
    deployed there a second time, without its data."""

    tags: dict[str, str] = field(default_factory=dict)
    """Tags of everything that is deployed, beside `gazette:stage` and `gazette:part`, such as
    `{"cost-center": "4711"}`.

    A key of `aws:` or `gazette:` is refused. Activate the keys in the billing console: else the
    bill does not show them."""

    bus: str = "gazette"
    """The event bus on which services put events.

    A second stage of an account and region needs another name."""

    sources: dict[str, list[str]] = field(default_factory=dict)
    """Which sources may put a detail type, such as `{"subscriber.deleted": ["shop.accounts"]}`. A
    detail type that is not named: every source.

    A list that is empty, or of another detail type, is refused. What another source puts waits in
    the quarantine (alarm `events-foreign`)."""

    templates: str = ""
    """A folder beside cdk.json whose files replace those of `templates/`.

    A missing folder, or a template that cannot be rendered, is refused."""

    links_domain: str = ""
    """The domain of the links in emails, such as `links.shop.example`, which
    [stays the same](links.md) whatever becomes of the stack. `none`: the HTTP API's own address.

    Needs `hosted_zone` or `links_certificate`. With `retain`, synthesis asks for it or `base_url`:
    links to the API's own address end with the service stack, two years too early."""

    links_certificate: str = ""
    """The ARN of a certificate of ACM for `links_domain`. Empty: one is made in `hosted_zone`.

    Must be of the region of the stage; with `edge_rate_limit`, of `us-east-1`."""

    api_address: bool = False
    """The HTTP API answers at its own address too, beside `links_domain`.

    If emails have led there before and it is not `true`, their links are broken. `true` together
    with `edge_rate_limit` is refused: that limit would not hold there."""

    edge_rate_limit: int = 0
    """[requests in five minutes] What one IP address may ask of `links_domain`, before the
    throttle of all readers: [CloudFront with a rule of WAF](links.md#a-limit-for-each-address). 0:
    no CloudFront and no limit.

    0, or 100 to 1,000,000. Too few: one-click unsubscribes come from few addresses of mailbox
    providers, and are turned away. Needs `links_domain` and `region`."""

    base_url: str = ""
    """Where readers reach their links, if neither at `links_domain` nor at the stage's own HTTP
    API: an address of yours that leads there.

    Must begin with `https://`. If it leads elsewhere, links in emails are broken."""

    requests_per_second: int = 50
    """[requests a second] What the HTTP API takes from all readers together.

    1 to 10,000. What is more is answered with 429."""

    requests_burst: int = 100
    """[requests] What the HTTP API takes at once.

    1 to 5,000."""

    preferences_concurrency: int = 0
    """[invocations] How many requests of readers are worked on at once; 0: as many as come.

    0 to 1,000. It is reserved: readers take no more from the account's other functions, nor those
    from them. Lambda refuses it if less than 100 of the account's limit would be left, so an
    account with a limit of 100 or less must leave it at 0. Too few: readers are turned away."""

    mail_provider: str = "ses"
    """`ses`, or `smtp` for any other provider.

    With `smtp`, `smtp_host`, `emails_per_second` and another `unknown_policy` than `resend` are
    required."""

    immediate_sender: str = ""
    """Who immediate emails come from. Empty: `sender`.

    As `sender`."""

    domain: str = ""
    """The domain that the stack verifies in SES, such as `shop.example`: DKIM, MAIL FROM, DMARC.
    Empty: you have verified the sender yourself.

    Each sender must be under it. One stage of an account and region may have it, and only if the
    domain is not verified there yet; else the deployment fails. Needs `ses`."""

    sandbox: bool = False
    """The SES account is in the sandbox: functions may then use each of its identities, as this
    sender. Otherwise only those of the sender.

    If it is in the sandbox and this is not `true`, SES refuses what goes to a verified recipient:
    the circuit breaker opens. Leave it out once AWS has let the account out."""

    hosted_zone: dict[str, str] = field(default_factory=dict)
    """The Route 53 zone into which the stack writes DNS records, such as
    `{"id": "Z0123456789ABC", "name": "shop.example"}`. Empty: the records are outputs of the data
    stack, and you enter them yourself.

    Must have both, and `domain` must be under the name. A record that is there already is not
    overwritten: the deployment fails."""

    mail_from_domain: str = ""
    """Where bounces go, for SPF. Empty: `bounce.` before `domain`.

    A subdomain of `domain` in which nothing else sends or receives email. Needs `domain`."""

    dmarc: str = "v=DMARC1; p=none"
    """The DMARC record of `domain`, such as `v=DMARC1; p=none; rua=mailto:dmarc@shop.example`, to
    get reports. Empty: none is written, because you have one.

    Anything but a DMARC record is refused. With `p=reject`, receivers refuse what is not
    authenticated, email of other systems with this domain too."""

    tls: str = "optional"
    """`optional`: SES encrypts email to every server that can. `require`: it sends no other.

    With `require`, email to a server without TLS bounces."""

    tracking_domain: str = ""
    """The host of the links and pictures that SES tracks. Empty: a host of SES.

    It must serve HTTPS: a CloudFront of yours before `r.REGION.awstrack.me`, under a domain that
    is verified in SES. Otherwise links are broken. Needs `track_clicks` or `track_opens`."""

    digest_pool: str = ""
    """The dedicated IP pool of SES for digests. Empty: as the account sends.

    SES refuses a pool that does not exist. Needs `ses`."""

    immediate_pool: str = ""
    """The dedicated IP pool of SES for immediate emails. Empty: as the account sends.

    As `digest_pool`."""

    track_clicks: bool = False
    """SES routes links through its own server and reports clicks; a click counts as activity.

    Needs `ses`."""

    track_opens: bool = False
    """SES adds a picture to each email and reports who fetched it.

    Needs `ses`."""

    opens_are_life: bool = False
    """An open counts as activity of the reader.

    Needs `track_opens`."""

    feedback_by_sns: bool = False
    """SES sends its events through an SNS topic too, because EventBridge may lose one.

    Needs `ses`."""

    smtp_host: str = ""
    """The SMTP server.

    Required with `smtp`."""

    smtp_port: int = 465
    """The port of the SMTP server.

    The worker cannot connect: email waits and is tried again."""

    smtp_security: str = "tls"
    """`tls` from the start, `starttls`, or `none`.

    `none` together with `smtp_secret` is refused: the password would travel as plain text."""

    smtp_secret: str = ""
    """The name of a Secrets Manager secret with `{"username": …, "password": …}`. Empty: no login.

    A wrong login stops all email: the circuit breaker opens."""

    smtp_command_timeout: int = 20
    """[seconds] How long each of nine stages of the SMTP exchange may take, to the message's end.

    5 to 60, and an email may take no longer than an invocation (900 seconds)."""

    smtp_reply_timeout: int = 600
    """[seconds] How long the SMTP server may take to answer once it has the message.

    60 to 720. Too short: more outcomes are unknown."""

    send_timeout: int = 10
    """[seconds] How long SES may take for one email.

    3 to 60; with `commit_margin` at most the time-out of `generate`. Too short: more outcomes are
    unknown."""

    emails_per_second: int = 0
    """[emails a second] The rate of all workers together. 0: nine tenths of the SES quota.

    0 to 5000: every ten emails write one DynamoDB row. Required with `smtp`, at most 500 then."""

    immediate_share: int = 20
    """[per cent] The part of the rate, of the ramp and of each day that is for immediate emails.

    1 to 99. Neither stream uses what the other leaves."""

    ramp_from: int = 10
    """[emails a second] The rate after a pause; it doubles while there is work. 0: no ramp.

    0 to 10,000."""

    ramp_every: int = 30
    """[seconds] How long until the rate of the ramp doubles.

    15 to 3,600."""

    warmup_from: str = ""
    """The first day of a new sending domain, such as `2026-11-21`, in UTC. Empty: no warm-up.

    Anything but a date is refused."""

    warmup_daily: int = 200
    """[emails] How many may go out on the first day of the warm-up; doubled each day, for a month.

    1 to 1,000,000. Too many: mailbox providers may refuse email of the new domain."""

    default_frequencies: dict[str, str] = field(default_factory=dict)
    """How often readers hear of a category when they have chosen nothing, such as
    `{"comment": "weekly"}`. A category that is not named: `daily`.

    Each must be `never`, `immediate`, `daily`, `weekly` or `custom`."""

    link_hosts: list[str] = field(default_factory=list)
    """The hosts to which links of events may lead, such as `["shop.example", "*.shop.example"]`:
    `*.` allows subdomains of any depth, but not the domain itself. Empty: any host.

    Each must be a host without scheme, port and path; together 2,000 characters of JSON at most. If
    a host is missing, events that link to it go to the quarantine."""

    collapse: int = 20
    """[seconds] How long an immediate email collects what else happens on the same entity.

    1 to 300. Longer: fewer emails, and later ones."""

    max_groups: int = 20
    """[groups] How many groups a digest shows; it counts the rest and links to the whole list.

    1 or more."""

    sunset_days: int = 45
    """[days] How long after the last activity a reader still gets email. 0: for ever.

    If services report no activity and it is not 0, every reader becomes dormant."""

    spread: int = 600
    """[seconds] The longest random delay of a digest, so that a slot's emails are not made at once.

    0 to 900, the longest delay of SQS."""

    max_lateness: int = 21600
    """[seconds] How late a digest may still go out; after that its events go with the next one.

    600 or more."""

    shards: int = 16
    """[shards] Parts of the readers that fan-out reads side by side. You may change it at any time.

    1 to 256. Too few: one shard manages some 20,000 readers a slot, and fan-out is late
    (alarm `shards-late`)."""

    lookback_slots: int = 6
    """[slots] How many earlier slots each tick reads again: the due index is eventually consistent.

    1 to 144. Too few: fan-out can overlook a schedule that the index shows late."""

    ingest_window: int = 0
    """[seconds] How long Lambda gathers events for one invocation of ingest.

    0 to 60. Any but 0 makes fewer invocations of single events, and delays events and immediate
    emails: where little happens, by up to 20 seconds, however short it is."""

    feedback_window: int = 20
    """[seconds] How long Lambda gathers delivery events for one invocation of feedback.

    0 to 60, and half of `evidence_grace` at most. Longer: bounces, complaints and evidence are
    known later. Where little happens, Lambda may gather for 20 seconds, however short it is; with 0
    it does not wait, and makes more invocations."""

    concurrency: dict[str, int] = field(default_factory=dict)
    """How many invocations may run at once, by function, such as `{"generate": 40}`; `immediate`
    are those of generate for immediate emails. A function that is not named: by the rate.

    2 to 1,000 of `ingest`, `followers`, `fanout`, `generate`, `immediate`, `resend`, `feedback` and
    `sweep`. Too few: email goes out more slowly than `emails_per_second`. Too many: runs ask for
    permits in vain."""

    account_concurrency: int = 1000
    """[invocations] How many functions may run at once in the account, of all stages and services.
    A new account may have as few as 10.

    10 or more. If it is more than the account has, functions are throttled; if the functions of the
    stage may take more than this, synthesis warns and says what to lower. An alarm fires when more
    than 90 % of it is taken."""

    unknown_policy: str = "resend"
    """What happens when nobody knows whether an email went out: `resend`, `carry_over` or
    `assume_sent`.

    You risk a duplicate (`resend`), a duplicate and a delay (`carry_over`) or a loss
    (`assume_sent`). `smtp` refuses `resend`."""

    evidence_grace: int = 900
    """[seconds] How long to wait for a delivery event before `unknown_policy` decides.

    60 to 86,400. Too short: more duplicates or losses. Too long: more delay."""

    longest_unknown: int = 21600
    """[seconds] How long `resend` waits for proof that delivery events arrive at all.

    At least `evidence_grace`. After it the events go with the next digest."""

    check_after: int = 3600
    """[seconds] When the sweep looks for the first time at a run that should have been sent.

    0 or more. Too short: useless messages. Too long: a lost message is found later."""

    settle_lag: int = 15
    """[seconds] The time between a window's end and now, in which writes become visible.

    More than the longest write of an event (1.5 seconds) plus `clock_skew`, up to 300: otherwise an
    event could be missed."""

    clock_skew: int = 5
    """[seconds] By how much the clocks of two functions may differ.

    0 to 60."""

    commit_margin: int = 8
    """[seconds] The time kept for recording the outcome after the longest call of the provider.

    5 or more. Too short: more outcomes are unknown."""

    report_deliveries: bool = True
    """SES reports each email that a receiving server took, beside each that SES itself accepted.

    `false`: cheaper by a message and a write for each email. Statistics call emails unconfirmed
    instead of delivered, the metric `mail_delivered` is missing, and of an email whose outcome is
    unknown there is one proof instead of two: if SES loses its report, `resend` sends it again.
    Needs `ses`."""

    soft_bounces: int = 5
    """[messages] How many messages may bounce softly before the address is suppressed.

    1 to 100."""

    soft_bounce_days: int = 14
    """[days] The period in which soft bounces count.

    1 to 365."""

    category_hold: bool = True
    """Holds a category when too many of its emails bounce or draw complaints.

    `false`: nothing is counted, and SES may review your account for one bad category."""

    event_retention_days: int = 35
    """[days] How long an event waits at least; longer if its digest comes rarely or pauses.

    35 or more."""

    run_retention_days: int = 200
    """[days] How long runs, and what became of their emails, are stored.

    More than the longest life of an event, 196 days with the default retention."""

    archive_days: int = 0
    """[days] How long an archive of the bus holds each event that services put, so that it can be
    [replayed](runbook/replay-events.md). 0: no archive.

    0 to 30: an event that is replayed is known by its id for `event_retention_days`. An erasure
    does not reach the archive: what was put about a reader stays there for so long."""

    restorable: list[str] = field(default_factory=lambda: ["runs"])
    """Tables with point-in-time recovery beside those that always have it: `subscribers`,
    `schedules`, `follows`, `suppressions` and `control`. It costs about as much as storing the
    table does.

    Any of `activities`, `events`, `runs`, `pace`, `engagement`, `category_stats` and `bounces`.
    What a table without it loses if its rows are damaged: `runs`, what was sent (the events that
    are still stored go out again), `events` and `activities`, what waits until services put it
    again; `engagement`, the statistics; the others, what some days bring again. None has it without
    `retain`."""

    retain: bool = True
    """Keeps tables and keys when their stack is deleted, and protects them from deletion.

    `false`: deleting the stack deletes all data."""

    dashboard: bool = True
    """A dashboard in CloudWatch, `gazette-<stage>`.

    It costs $3 a month; `false`: none."""

    ticks: bool = True
    """The clock starts digests and the sweep.

    `false`: no digest goes out by itself."""

    host_layers: bool = False
    """Builds the layers for this machine instead of Lambda's; for the embedded engine.

    `true` on another platform than Lambda's: functions cannot import their libraries."""

    @property
    def links_host(self) -> str:
        """The domain of the links in emails, if they have one; empty if not."""
        return "" if self.links_domain == NOTHING else self.links_domain

    @property
    def streams(self) -> tuple[Stream, Stream]:
        """The streams: digests and immediate emails."""
        return (
            Stream("digest", self.sender, self.digest_pool),
            Stream("immediate", self.immediate_sender or self.sender, self.immediate_pool),
        )

    @property
    def bounce_domain(self) -> str:
        """The MAIL FROM domain; empty without `domain`."""
        return self.mail_from_domain or (f"bounce.{self.domain}" if self.domain else "")

    def restores(self, table: Table) -> bool:
        """Whether the table has point-in-time recovery."""
        return self.retain and (table.is_irreplaceable or table.name in self.restorable)

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
