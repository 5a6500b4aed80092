"""What readers get."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Readers:
    """What readers get."""

    default_frequencies: dict[str, str] = field(default_factory=dict)
    """How often readers hear of a category when they have chosen nothing, such as
    `{"comment": "weekly"}`. A category that is not named: `daily`.

    Each must be `never`, `immediate`, `daily`, `weekly` or `custom`."""

    critical_categories: list[str] = field(default_factory=list)
    """Categories that no reader can turn off, such as `["security"]`: an event of one comes at once
    by itself, also to readers who paused, are dormant or have unsubscribed.

    20 at most, none of which has another default frequency than `immediate`. Only for what readers
    must know, such as a new password: [what still stops it](subscribers.md#critical-categories)."""

    link_hosts: list[str] = field(default_factory=list)
    """The hosts to which links of events may lead, such as `["shop.example", "*.shop.example"]`:
    `*.` allows subdomains of any depth, but not the domain itself. Empty: any host.

    Each must be a host without scheme, port and path; together 2,000 characters of JSON at most. If
    a host is missing, events that link to it go to the quarantine."""

    collapse: int = 20
    """[seconds] How long an immediate email collects what else happens on the same entity.

    1 to 300. Longer: fewer emails, and later ones."""

    immediate_unsubscribe: str = "category"
    """What the unsubscribe button of a mail program ends beside an immediate email: the immediate
    emails of its `category`, or `everything`. Beside a digest it ends the digests.

    Anything else is refused."""

    max_blocks: int = 20
    """[blocks] How many blocks a digest shows; it counts the rest and links to the whole list.

    1 or more."""

    full_blocks: int = 8
    """[blocks] How many blocks a digest shows in full. Those behind them have no excerpts.

    0 or more."""

    ranking: str = "relevance"
    """What comes first in a digest: `relevance` (what matters most to this reader), `most_active`
    or `latest`.

    A [variation](experiments.md) may say otherwise."""

    category_weights: dict[str, float] = field(default_factory=dict)
    """What a category weighs in the ranking `relevance`, such as `{"release": 8, "like": 0.5}`,
    where it differs from [ours](templates.md#ranking). `other`: what is not named.

    Each from 0 to 1,000."""

    sections: str = "none"
    """The headings in a digest: `none`, `category`, or `parent` (what the reader follows).

    With `parent`, blocks without a title of it come first, under no heading."""

    sunset_days: int = 45
    """[days] How long after the last sign of life a reader still gets email. 0: for ever.

    If services put no `subscriber.active` and it is not 0, every reader becomes dormant."""

    max_lateness: int = 21600
    """[seconds] How late a digest may still go out; after that its events go with the next one.

    600 or more."""
