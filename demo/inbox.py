"""The rows of an inbox, checks that each row shows something new, and counts of an email's links.

Everything is based only on the emails that arrived.
"""

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from statistics import median

import lxml.html
from gazette.domain.identity import parse_run_id
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of

from demo.invented import SITE
from demo.ses import Accepted

LARGEST_HTML = 90_000
"""The size in bytes below which the HTML of an email must remain."""

MOST_FOOTER_LINKS = 7
"""The maximum number of links in the footer of an email."""

LARGEST_SHARE_OF_URLS = 1 / 3
"""The maximum share of URLs in the characters of the text part, in half of the emails."""

_URL = re.compile(r"https?://\S+")
_OWN_LINK = re.compile(r"https?://\S+/(?:unsubscribe|updates)/\S+$")

_TITLES = "//a[@class='title']"
"""The links with the titles of entities."""

_PADDING = dict.fromkeys(map(ord, "\u034f\u2007\u200c\xad"))
"""The characters that pad a preheader, so that inboxes do not show the email's text after it."""

_QUOTED = re.compile("“([^”]+)”")
"""The pattern of the title in a subject."""

_FOOTER = re.compile(r"\nYou(?:'re getting| get) this ")

_BEGIN_OF_SUBJECT = re.compile(r"^Your (?:week|month), [^:]+: ")
"""The pattern of the dates with which the subject of a weekly or monthly digest begins."""

_END_OF_SUBJECT = re.compile(r"(?: \+ [\d,]+ more)?(?: · [^·]+)?$")
"""The pattern of the end of a subject, which preheaders do not repeat: the number of further
updates, and the day.
"""


@dataclass(frozen=True, slots=True)
class Links:
    """The numbers of links in the HTML of an email, by purpose.

    `content` leads to what happened. `footer` contains the reader's own links in the footer,
    `notices` those of a notice above or below the blocks, and `blocks` all others.
    """

    content: int = 0
    footer: int = 0
    notices: int = 0
    blocks: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """An email in the form in which an inbox shows it."""

    to: str
    schedule: str
    subject: str
    preheader: str

    # The links of the email's blocks: those of the titles, or else that of the button.
    things: tuple[str, ...]

    # The titles of the blocks.
    titles: tuple[str, ...]

    # The email's text without the reader's personal links, which differ in each email.
    told: str

    # The size of the email's HTML in bytes.
    html_bytes: int

    links: Links = Links()

    # The share of URLs in the characters of the email's text, from 0 to 1.
    share_of_urls: float = 0

    @property
    def is_digest(self) -> bool:
        """True if the email is a digest. The immediate emails of a thread share one subject."""
        return kind_of(self.schedule) is not ScheduleKind.IMMEDIATE


@dataclass(frozen=True, slots=True)
class Repeated:
    """Counts of repetitions in the emails."""

    # The number of digests with the same subject as the previous digest, but different contents.
    subjects: int = 0

    # The number of preheaders that repeat their subject or the title of an entity in it.
    preheaders: int = 0

    # The number of entities that occur twice in an email.
    things: int = 0

    # The number of emails whose HTML is too large.
    too_large: int = 0


def row(mail: Accepted) -> Row:
    """Return the row of an email in its reader's inbox."""
    html = mail.part("html")
    text = mail.part("plain").replace("\r\n", "\n")
    page = lxml.html.document_fromstring(html)
    preheader = page.xpath("string(//*[@class='preheader'])").translate(_PADDING)
    return Row(
        to=mail.to,
        schedule=parse_run_id(mail.tags["run"]).schedule,
        subject=str(mail.message["Subject"]),
        preheader=" ".join(preheader.split()),
        things=tuple(page.xpath(f"{_TITLES}/@href") or page.xpath("//a[@class='open']/@href")),
        titles=tuple(each.text_content() for each in page.xpath(_TITLES)),
        told=_text(text),
        html_bytes=len(html.encode()),
        links=_links(page),
        share_of_urls=sum(map(len, _URL.findall(text))) / len(text),
    )


def _links(page: lxml.html.HtmlElement) -> Links:
    """Count the links of an email by purpose."""
    own = f"@href and not(starts-with(@href, '{SITE}/')) and not(@class='home')"
    total = len(page.xpath(f"//a[{own}]"))
    footer = len(page.xpath(f"//td[@class='footer']//a[{own}]"))
    notices = len(page.xpath(f"//td[@class='more']//a[{own}]"))
    content = len(page.xpath(f"//a[starts-with(@href, '{SITE}/')]"))
    return Links(content, footer, notices, blocks=total - footer - notices)


def look(rows: Sequence[Row]) -> Repeated:
    """Count the repetitions in rows. The rows must be in the order in which the emails arrived."""
    before: dict[str, Row] = {}
    subjects = preheaders = things = 0
    for each in rows:
        last = before.get(each.to)
        if each.is_digest:
            if last is not None and last.subject == each.subject and last.told != each.told:
                subjects += 1
            before[each.to] = each
        headline = _END_OF_SUBJECT.sub("", _BEGIN_OF_SUBJECT.sub("", each.subject))
        begins_with_subject = _plain(each.preheader).startswith(_plain(headline))
        preheaders += begins_with_subject or _repeats_title(each)
        things += len(each.things) - len({*each.things})
    too_large = sum(each.html_bytes >= LARGEST_HTML for each in rows)
    return Repeated(subjects, preheaders, things, too_large)


def _repeats_title(row: Row) -> bool:
    """Return True if the preheader contains the title that the subject quotes, as whole words. The
    subject may have only the beginning of the title, with which other titles may begin, too."""
    match = _QUOTED.search(row.subject)
    if not match:
        return False
    title = match[1].removesuffix("…")
    end = "" if title != match[1] else r"(?!\w)"
    preheader = row.preheader
    for other in [each for each in row.titles if each.startswith(title)][1:]:
        preheader = preheader.replace(other, "")
    return bool(re.search(rf"(?<!\w){re.escape(title)}{end}", preheader))


def links_of(rows: Sequence[Row]) -> Links:
    """Return the sums of the links of all emails."""
    return Links(*map(sum, zip(*(astuple(each.links) for each in rows), strict=True)))


def share_of_urls(rows: Sequence[Row]) -> float:
    """Return the median share of URLs in the characters of the text parts."""
    return median([each.share_of_urls for each in rows] or [0])


def _text(text: str) -> str:
    body = _FOOTER.split(text)[0]
    return "\n".join(line for line in body.splitlines() if not _OWN_LINK.search(line))


def _plain(text: str) -> str:
    return " ".join(text.strip(" .").split())
