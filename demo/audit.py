"""Was anything lost, was anything sent twice? Counted from the emails that arrived alone."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gazette.domain.identity import parse_run_id

from demo import campus
from demo.ses import Accepted

_GROUP = re.compile(
    r"^(?:  )?(?:(?P<count>\d+) n|N)ew messages? from [^\n]+\n(?:  [^\n]*\n)*?"
    r"  (?P<url>https?://\S+)$",
    re.MULTILINE,
)
_MORE = re.compile(r"^And (?P<events>\d+) more updates?\.$", re.MULTILINE)
_TOTAL = re.compile(r"^(?P<events>\d+) updates for you\.$", re.MULTILINE)
"""A digest with one update does not say how many there are."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one email says: events by link, what it leaves out, and its own total."""

    run: str
    counts: Counter[str]
    more_events: int
    total: int


@dataclass(slots=True)
class Findings:
    """`lost_events` were put and are in no email; `duplicate_emails` should not exist.

    `problems` names each, in words.
    """

    events_in_emails: int = 0
    lost_events: int = 0
    repeated_events: int = 0
    duplicate_emails: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Nothing lost, nothing twice, nothing unexplained."""
        return not self.problems


def read(mail: Accepted) -> Seen:
    """What the text part of an email says. Reads what a reader reads."""
    text = mail.part("plain").replace("\r\n", "\n")
    more = _MORE.search(text)
    total = _TOTAL.search(text)
    return Seen(
        run=mail.tags["run"],
        counts=Counter({found["url"]: int(found["count"] or 1) for found in _GROUP.finditer(text)}),
        more_events=int(more["events"]) if more else 0,
        total=int(total["events"]) if total else 1,
    )


def audit(messages: Iterable[campus.Message], accepted: Sequence[Accepted]) -> Findings:
    """Compare each student's emails, in order, with the student's days that had messages.

    Each such day must be one email that counts every conversation of that day exactly.
    """
    expected: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for message in messages:
        day = expected[campus.address(message.target)][message.day]
        day[campus.url(message.conversation)] += 1
    arrived: dict[str, list[Seen]] = defaultdict(list)
    findings = Findings()
    runs: set[str] = set()
    for mail in accepted:
        seen = read(mail)
        if seen.run in runs:
            findings.duplicate_emails += 1
            findings.problems.append(f"run {seen.run} was accepted twice")
        runs.add(seen.run)
        if parse_run_id(seen.run).user_id != mail.to.partition("@")[0]:
            findings.problems.append(f"run {seen.run} went to {mail.to}")
        arrived[mail.to].append(seen)
    for reader in expected.keys() | arrived.keys():
        days = [expected[reader][day] for day in sorted(expected[reader])]
        _compare(reader, days, arrived[reader], findings)
    return findings


def _compare(
    reader: str, days: Sequence[Counter[str]], emails: Sequence[Seen], findings: Findings
) -> None:
    findings.events_in_emails += sum(email.counts.total() + email.more_events for email in emails)
    if len(emails) != len(days):
        findings.problems.append(f"{reader}: {len(emails)} emails for {len(days)} days")
        findings.duplicate_emails += max(0, len({email.run for email in emails}) - len(days))
        put: Counter[str] = sum(days, Counter())
        shown: Counter[str] = sum((email.counts for email in emails), Counter())
        more = sum(email.more_events for email in emails)
        unseen = (put - shown).total()
        findings.lost_events += max(0, unseen - more)
        findings.repeated_events += (shown - put).total() + max(0, more - unseen)
        return
    for day, email in zip(days, emails, strict=True):
        hidden = Counter({url: count for url, count in day.items() if url not in email.counts})
        surplus = (email.counts - day).total() + max(0, email.more_events - hidden.total())
        present = Counter({url: day[url] for url in email.counts})
        missing = (present - email.counts).total() + max(0, hidden.total() - email.more_events)
        findings.lost_events += missing
        findings.repeated_events += surplus
        if missing or surplus or email.total != day.total():
            findings.problems.append(f"{reader}: run {email.run} does not match its day")
