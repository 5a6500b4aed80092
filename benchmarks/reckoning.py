"""A count of each reader's runs and emails in a slot, based on the tables and the emails."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gazette.domain.delivery.run import Status
from gazette.domain.identity import parse_run_id

from demo.ses import Accepted


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored run."""

    user_id: str
    status: str


@dataclass(frozen=True, slots=True)
class Reckoned:
    """The result of a count.

    `problems` describes the first problem of each kind. `duplicates` is the number of surplus runs
    and emails. `lost` is the number of readers whose event is in none of their emails.
    """

    runs: int
    sent: int
    emails: int
    duplicates: int
    lost: int
    problems: list[str] = field(default_factory=list)


def reckon(
    links: Mapping[str, str], runs: Sequence[Stored], emails: Sequence[Accepted]
) -> Reckoned:
    """Compare the runs and emails with the expected result.

    `links` contains the link of each reader's event by user id.
    """
    runs_of = Counter(run.user_id for run in runs)
    sent = sum(run.status == Status.SENT for run in runs)
    accepted = Counter(mail.tags["run"] for mail in emails)
    emails_of = Counter(_reader(mail) for mail in emails)
    reached = {_reader(mail) for mail in emails if _is_of(mail, links)}
    lost = links.keys() - reached
    twice = [run for run, times in accepted.items() if times > 1]
    duplicates = _too_many(runs_of) + _too_many(emails_of)
    return Reckoned(
        runs=len(runs),
        sent=sent,
        emails=len(emails),
        duplicates=duplicates,
        lost=len(lost),
        problems=[
            *_first("has no run", links.keys() - runs_of.keys()),
            *_first("has more than one run", _repeated(runs_of)),
            *_first("has a run that was not sent", _not_sent(runs)),
            *_first("has no email with their event", lost),
            *_first("has more than one email", _repeated(emails_of)),
            *_first("was accepted more than once", twice),
            *_first("has an email without an event", emails_of.keys() - links.keys()),
        ],
    )


def _reader(mail: Accepted) -> str:
    return parse_run_id(mail.tags["run"]).user_id


def _is_of(mail: Accepted, links: Mapping[str, str]) -> bool:
    """Return True if the email was sent to the reader of its run and has that reader's link."""
    user_id = _reader(mail)
    return mail.to.partition("@")[0] == user_id and links.get(user_id, "\0") in mail.part("plain")


def _not_sent(runs: Iterable[Stored]) -> set[str]:
    return {run.user_id for run in runs if run.status != Status.SENT}


def _repeated(counted: Counter[str]) -> list[str]:
    return [name for name, times in counted.items() if times > 1]


def _too_many(counted: Counter[str]) -> int:
    return counted.total() - len(counted)


def _first(what: str, names: Iterable[str]) -> list[str]:
    found = sorted(names)
    return [f"{found[0]} {what}, as {len(found)} in all"] if found else []
