"""Settings of the emails to readers: categories, frequencies, content and order."""

from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, kw_only=True)
class Readers:
    """Emails to readers."""

    default_frequencies: dict[str, str] = field(default_factory=dict)
    """The frequency of each category for readers who have not chosen a frequency, such as
    `{"comment": "weekly"}`. Categories that are not listed use `daily`.

    Each frequency must be `never`, `immediate`, `daily`, `weekly` or `custom`.
    """

    critical_categories: list[str] = field(default_factory=list)
    """Categories that readers cannot turn off, such as `["security"]`. Gazette sends each event of
    these categories immediately in its own email, even to readers who are paused, dormant or
    unsubscribed.

    At most 20 categories. If a category has a default frequency, it must be `immediate`. Use
    critical categories only for messages that readers must get, such as a new password. See [which
    conditions still stop these emails](subscribers.md#critical-categories).
    """

    quiet_hours: str = ""
    """The hours in which readers get no immediate emails, such as `22:00-07:00`, in the time zone
    of each reader. Readers and services can choose other hours, or none. Empty: no quiet hours.

    Two times, as `HH:MM-HH:MM`, that leave at least an hour of the day. Emails wait until the
    end of the hours, as one email for each entity ([quiet hours](subscribers.md#quiet-hours)).
    Critical emails do not wait.
    """

    link_hosts: list[str] = field(default_factory=list)
    """The hosts to which links in events may point, such as `["shop.example", "*.shop.example"]`.
    `*.` allows subdomains of any depth, but not the domain itself. Empty: any host.

    Each entry must be a host without scheme, port or path. The list may have at most 2,000
    characters of JSON. Events that link to another host go to the quarantine.
    """

    collapse: timedelta = timedelta(seconds=20)
    """The time for which the first immediate email about an entity collects further events of this
    entity. Later emails collect for up to an hour, whatever the setting.

    1 to 300. With a longer time, readers get fewer immediate emails, and get each email later.
    """

    immediate_unsubscribe: str = "category"
    """The effect of the unsubscribe button that mail programs show for an immediate email.
    `category`: the reader gets no more immediate emails of the category. `everything`: the reader
    gets no more emails at all, including digests. The button of a digest always unsubscribes from
    digests.

    `category` or `everything`.
    """

    max_blocks: int = 20
    """[blocks] The maximum number of blocks in a digest. The digest shows the number of omitted
    blocks and links to the full list.

    1 or more.
    """

    full_blocks: int = 8
    """[blocks] The number of blocks that a digest shows in full. Further blocks have no excerpts.

    0 or more.
    """

    ranking: str = "relevance"
    """The order of the blocks in a digest: `relevance` (most important to this reader first),
    `most_active` or `latest`.

    A [variation](experiments.md) may override the order."""

    category_weights: dict[str, float] = field(default_factory=dict)
    """The weights of categories in the `relevance` ranking, such as `{"release": 8, "like": 0.5}`.
    These weights override [Gazette's weights](templates.md#ranking). `other` is the weight of all
    categories that are not listed.

    Each weight must be from 0 to 1,000."""

    digest_worth: dict[str, float] = field(default_factory=dict)
    """The minimum for daily digests, such as `{"score": 2, "days": 3}`. A daily digest is
    [skipped](subscribers.md#digests-with-few-events) if the scores of its lines add up to less than
    `score`, and its oldest event is less than `days` days old. The next digest includes its events.
    Empty: each digest with an event is sent.

    `score` must be more than 0 and at most 10,000, and `days` must be 1 to 14. With a high score,
    most digests wait until their oldest event is `days` days old.
    """

    immediate_limit: dict[str, int] = field(default_factory=dict)
    """The maximum number of immediate emails for one reader, such as `{"per_hour": 6, "per_day":
    30}`. Further events [go with the daily digest](subscribers.md#limit-of-immediate-emails). The
    limit does not apply to critical email. Empty: no limit.

    `per_hour` must be 1 to 60, and `per_day` from `per_hour` to 500. With a low limit, readers who
    chose immediate emails learn of most events a day later.
    """

    sections: str = "none"
    """The headings in a digest: `none`, `category`, or `parent` (the entity that the reader
    follows).

    With `parent`, blocks without a parent title are at the top, without a heading.
    """

    sunset_days: int = 45
    """[days] The time without activity after which a reader becomes dormant and gets no more
    email. 0: never.

    0 or more. If services do not publish `subscriber.active`, every reader becomes dormant."""

    max_lateness: timedelta = timedelta(hours=6)
    """The maximum delay of a digest. If a digest would be later, it is skipped, and its events are
    sent with the next digest.

    600 or more.
    """
