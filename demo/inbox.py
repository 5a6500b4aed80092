"""Does each row of an inbox say something new? Counted from the emails that arrived alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import lxml.html
from gazette.domain.identity import parse_run_id

from demo.ses import Accepted

_PADDING = "\u034f\u2007\u200c\xad"
"""What fills a preheader up, so that nothing of the email follows it."""


@dataclass(frozen=True, slots=True)
class Rows:
    """How often a digest repeats the subject of the one before though it says something else, how
    often a preheader says its subject again, and how many things stand in an email twice.
    """

    repeated_subjects: int
    repeated_preheaders: int
    things_twice: int


def look(accepted: Sequence[Accepted]) -> Rows:
    """Look at emails in the order in which they arrived."""
    before: dict[tuple[str, str], tuple[str, str]] = {}
    subjects = preheaders = twice = 0
    for mail in accepted:
        subject = str(mail.message["Subject"])
        page = lxml.html.document_fromstring(mail.part("html"))
        run = parse_run_id(mail.tags["run"])
        links = page.xpath("//a[@class='title' or @class='open']/@href")
        content = _content(mail.part("plain"))
        last = before.get((mail.to, run.schedule))
        subjects += last is not None and last[0] == subject and last[1] != content
        before[mail.to, run.schedule] = subject, content
        said = page.xpath("string(//*[@class='preheader'])").translate(
            dict.fromkeys(map(ord, _PADDING))
        )
        preheaders += _plain(said) == _plain(subject)
        twice += len(links) - len({*links})
    return Rows(subjects, preheaders, twice)


def _content(text: str) -> str:
    """What the text part tells, without the reader's own links, which no two emails share."""
    told = text.replace("\r\n", "\n").partition("\nYou're getting")[0]
    return "\n".join(line for line in told.splitlines() if not line.startswith("See all "))


def _plain(text: str) -> str:
    return " ".join(text.strip(" .").split())
