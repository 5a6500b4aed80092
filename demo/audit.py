"""An audit of lost and duplicate events, and of the people whom emails name, based only on the
emails that arrived.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gazette.domain.identity import parse_run_id

from demo import campus
from demo.invented import Happened
from demo.ses import Accepted

_WHO = r"[^\"“”·]+"
"""The pattern of names. It excludes titles and quotes, which may read like a line."""

_LINES = {
    "message": rf"(?:(?P<count>\d+) n|N)ew messages? from (?P<several>{_WHO})",
    "comment": rf"(?P<count>\d+) new comments from (?P<several>{_WHO})|(?P<one>{_WHO}) commented",
    "reply": rf"(?P<count>\d+) new replies from (?P<several>{_WHO})|(?P<one>{_WHO}) replied",
    "article": (
        rf"(?P<count>\d+) new articles from (?P<several>{_WHO})"
        rf"|(?P<one>{_WHO}) published an article"
    ),
    "mention": rf"(?P<people>{_WHO}) mentioned you",
    "like": rf"(?P<people>{_WHO}) liked this",
    "follow": rf"(?P<people>{_WHO}) started following you",
    "other": r"(?:Library|Timetable)(?: · (?P<count>\d+) times)?",
}
"""The patterns of an email's lines by category.

Categories without templates are `other`, and their events have no actor. A line without a number
counts people, because each person causes such an event only once a day.
"""

_PATTERNS = {
    what: re.compile(rf"(?:  )?(?:{words})(?:(?: · (?P<signer>{_WHO}))?: “.+”)?")
    for what, words in _LINES.items()
}
"""A line of a block that leads ends with the title. A line of a row ends with a snippet, which is
signed if several people acted.
"""

_ALONE = {
    what: re.compile(words)
    for what, words in {
        "other": r"(?:Library|Timetable): “.+”",
        "message": rf"(?P<one>{_WHO}): “.+”",
        "comment": rf"(?P<one>{_WHO}) commented on “.+”",
        "reply": rf"(?P<one>{_WHO}) replied in “.+”",
        "article": rf"(?P<one>{_WHO}) published “.+”",
        "mention": rf"(?P<one>{_WHO}) mentioned you in “.+”",
        "like": rf"(?P<one>{_WHO}) liked “.+”",
        "follow": rf"(?P<one>{_WHO}) started following you",
    }.items()
}
"""The patterns of the sentence of an email with one update, by category."""

_QUOTE = re.compile(r"  (?P<signer>[^\"“”:]+): \".*\"")
_URL = re.compile(r"  (https?://\S+)")
_OTHERS = re.compile(r"(\d+) others?")
_BETWEEN_NAMES = re.compile(r", and |, | and ")
_ISOLATES = dict.fromkeys(map(ord, "\u2066\u2067\u2068\u2069"))
_MORE = re.compile(r"^And (?P<events>\d+) more updates?\.$", re.MULTILINE)
_NUMBER = (
    r"\d+ (?:messages?|comments?|reply|replies|articles?|mentions?|likes?|new followers?"
    r"|(?:other )?updates?)"
)
_NUMBERS = rf"{_NUMBER}(?:, {_NUMBER})*(?:,? and {_NUMBER})?"
_TOTAL = re.compile(rf"\AHi[^\n]*\n\n(?P<first>{_NUMBERS})\n(?:and (?P<others>{_NUMBERS})\n)?\n")
"""The pattern of the headline, which has the numbers of updates by category.

A digest with one update does not contain it.
"""

Counts = Counter[tuple[str, str]]
"""Numbers of events by the entity's link and the category (a key of `_LINES`)."""


Acts = frozenset[tuple[str, str]]
"""The link of each entity with the name of each person who acted there."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The contents of one email: events by link and category, omitted events, the total, and the
    people whom it names.
    """

    run: str
    counts: Counts
    more_events: int
    total: int
    acts: Acts = frozenset()


@dataclass(slots=True)
class _Day:
    """The events of a reader on one day, and the people who caused them."""

    counts: Counts = field(default_factory=Counter)
    acts: set[tuple[str, str]] = field(default_factory=set)


@dataclass(slots=True)
class Findings:
    """The results of an audit.

    `problems` describes each problem in words. `lost_events` counts events that were published but
    are in no email. `wrong_names` counts names in emails of people without an event of that day
    about the entity.
    """

    events_in_emails: int = 0
    lost_events: int = 0
    repeated_events: int = 0
    duplicate_emails: int = 0
    wrong_names: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """True if the audit found no problem."""
        return not self.problems


def read(mail: Accepted) -> Seen:
    """Return the contents of an email, read from its text part."""
    text = mail.part("plain").replace("\r\n", "\n").translate(_ISOLATES)
    more = _MORE.search(text)
    total = _TOTAL.search(text)
    counts, acts = _lines(text, _PATTERNS if total else _ALONE)
    return Seen(
        run=mail.tags["run"],
        counts=counts,
        more_events=int(more["events"]) if more else 0,
        total=sum(map(int, re.findall(r"\d+", " ".join(total.groups(""))))) if total else 1,
        acts=acts,
    )


def kind_of(event: Happened) -> str:
    """Return the key of `_LINES` whose lines describe the event."""
    return event.category if event.category in _LINES else "other"


def _lines(text: str, patterns: Mapping[str, re.Pattern[str]]) -> tuple[Counts, Acts]:
    """Count the lines above each link, which describe the events of that entity, and collect the
    names in them.
    """
    counts: Counts = Counter()
    acts: set[tuple[str, str]] = set()
    above: Counter[str] = Counter()
    names: set[str] = set()
    for line in text.splitlines():
        if match := _URL.fullmatch(line):
            counts.update({(match[1], what): count for what, count in above.items()})
            acts |= {(match[1], name) for name in names}
            above.clear()
            names.clear()
            continue
        for what, pattern in patterns.items():
            if match := pattern.fullmatch(line):
                above[what] += _count(match.groupdict())
                names |= _names(match.groupdict())
                break
        else:
            if match := _QUOTE.fullmatch(line):
                names.add(match["signer"])
    return counts, frozenset(acts)


def _count(groups: Mapping[str, str | None]) -> int:
    if people := groups.get("people"):
        names = _BETWEEN_NAMES.split(people)
        others = [_OTHERS.fullmatch(name) for name in names]
        return sum(int(other[1]) if other else 1 for other in others)
    return int(groups.get("count") or 1)


def _names(groups: Mapping[str, str | None]) -> set[str]:
    """Return the names in a line, without numbers of others."""
    lists = (groups.get(name) or "" for name in ("people", "several", "one", "signer"))
    names = (name for some in lists for name in _BETWEEN_NAMES.split(some) if name)
    return {name for name in names if not _OTHERS.fullmatch(name)}


def audit(events: Iterable[Happened], accepted: Sequence[Accepted]) -> Findings:
    """Compare each student's emails, in order, with the days on which the student had events.

    Each such day must have one email with exactly the day's events of each entity, and with the
    names of no other people.
    """
    expected: dict[str, dict[int, _Day]] = defaultdict(lambda: defaultdict(_Day))
    for event in events:
        day = expected[campus.address(event.message.target)][event.message.day]
        day.counts[event.thing.url, kind_of(event)] += 1
        if event.has_actor:
            day.acts.add((event.thing.url, campus.name(event.message.source)))
    arrived: dict[str, list[Seen]] = defaultdict(list)
    findings = Findings()
    runs: set[str] = set()
    for mail in accepted:
        email = read(mail)
        if email.run in runs:
            findings.duplicate_emails += 1
            findings.problems.append(f"run {email.run} was accepted twice")
        runs.add(email.run)
        if parse_run_id(email.run).user_id != mail.to.partition("@")[0]:
            findings.problems.append(f"run {email.run} went to {mail.to}")
        arrived[mail.to].append(email)
    for reader in expected.keys() | arrived.keys():
        days = [expected[reader][day] for day in sorted(expected[reader])]
        _compare(reader, days, arrived[reader], findings)
    return findings


def _compare(reader: str, days: Sequence[_Day], emails: Sequence[Seen], findings: Findings) -> None:
    findings.events_in_emails += sum(email.counts.total() + email.more_events for email in emails)
    if len(emails) != len(days):
        findings.problems.append(f"{reader}: {len(emails)} emails for {len(days)} days")
        findings.duplicate_emails += max(0, len({email.run for email in emails}) - len(days))
        wanted: Counts = sum((day.counts for day in days), Counter())
        emailed: Counts = sum((email.counts for email in emails), Counter())
        more = sum(email.more_events for email in emails)
        unseen = (wanted - emailed).total()
        findings.lost_events += max(0, unseen - more)
        findings.repeated_events += (emailed - wanted).total() + max(0, more - unseen)
        return
    for expected, email in zip(days, emails, strict=True):
        day = expected.counts
        for _, name in sorted(email.acts - expected.acts):
            findings.wrong_names += 1
            findings.problems.append(f"{reader}: run {email.run} names {name}, who did not act")
        hidden = Counter({key: count for key, count in day.items() if key not in email.counts})
        surplus = (email.counts - day).total() + max(0, email.more_events - hidden.total())
        present = Counter({key: day[key] for key in email.counts})
        missing = (present - email.counts).total() + max(0, hidden.total() - email.more_events)
        findings.lost_events += missing
        findings.repeated_events += surplus
        if missing or surplus or email.total != day.total():
            findings.problems.append(f"{reader}: run {email.run} does not match its day")
