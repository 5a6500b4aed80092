"""Emails to readers: categories, frequencies, content and order."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Readers:
    """Emails to readers."""

    default_frequencies: dict[str, str] = field(default_factory=dict)
    """The frequency of each category for readers who have not chosen one, such as
    `{"comment": "weekly"}`. A category that is missing here has `daily`.

    Each must be `never`, `immediate`, `daily`, `weekly` or `custom`."""

    critical_categories: list[str] = field(default_factory=list)
    """Categories that readers cannot turn off, such as `["security"]`. Gazette sends each of their
    events immediately in its own email, also to readers who are paused, dormant or unsubscribed.

    At most 20. Their default frequency, if set, must be `immediate`. Use them only for messages
    that readers must get, such as a new password. See
    [what still stops them](subscribers.md#critical-categories)."""

    link_hosts: list[str] = field(default_factory=list)
    """The hosts to which links in events may lead, such as `["shop.example", "*.shop.example"]`.
    `*.` allows subdomains of any depth, but not the domain itself. Empty: any host.

    Each must be a host without scheme, port and path; together at most 2,000 characters of JSON.
    Events that link to another host go to the quarantine."""

    collapse: int = 20
    """[seconds] The time for which an immediate email collects further events of the same entity.

    1 to 300. Longer: fewer and later emails."""

    immediate_unsubscribe: str = "category"
    """The emails that the unsubscribe button of a mail program ends when it is next to an immediate
    email: the immediate emails of its `category`, or `everything`, which includes digests. Next to
    a digest, the button ends the digests.

    `category` or `everything`."""

    max_blocks: int = 20
    """[blocks] The maximum number of blocks in a digest. The digest counts the other blocks and
    links to the full list.

    1 or more."""

    full_blocks: int = 8
    """[blocks] The number of blocks that a digest shows in full. The others have no excerpts.

    0 or more."""

    ranking: str = "relevance"
    """The order of a digest: `relevance` (most important to this reader first), `most_active` or
    `latest`.

    A [variation](experiments.md) may override it."""

    category_weights: dict[str, float] = field(default_factory=dict)
    """The weights of categories in the ranking `relevance`, such as `{"release": 8, "like": 0.5}`.
    They override [ours](templates.md#ranking). `other` is the weight of all other categories.

    Each from 0 to 1,000."""

    sections: str = "none"
    """The headings in a digest: `none`, `category`, or `parent` (the entity that the reader
    follows).

    With `parent`, blocks without a parent's title come first and have no heading."""

    sunset_days: int = 45
    """[days] The time without activity after which a reader becomes dormant and gets no more
    email. 0: never.

    0 or more. If services do not publish `subscriber.active`, every reader becomes dormant."""

    max_lateness: int = 21600
    """[seconds] The maximum delay of a digest. After that its events go into the next digest.

    600 or more."""
