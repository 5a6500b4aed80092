"""Every link of an email, as a scanner collects them."""

import re
from collections.abc import Iterable

import lxml.html

from demo.ses import Accepted

_IN_TEXT = re.compile(r"https?://[^\s<>\"']+")
_LINKING = ("href", "src", "action", "background")


PAGES = ("/unsubscribe/", "/preferences/", "/keep/", "/email/", "/updates/")
"""Below them are the pages of a reader."""


def ours(links: Iterable[str], base_url: str) -> set[str]:
    """Those that lead to one of the pages."""
    return {link for link in links if link.startswith(tuple(f"{base_url}{each}" for each in PAGES))}


def preferences_of(mail: Accepted) -> str:
    """The link to the reader's own page."""
    (link,) = (link for link in links_in(mail) if "/preferences/" in link)
    return link


def links_in(mail: Accepted) -> set[str]:
    """From all headers, the text and the HTML."""
    headers = "\n".join(str(value) for value in mail.message.values())
    return {
        *_IN_TEXT.findall(headers),
        *(link.partition("#")[0] for link in _IN_TEXT.findall(mail.part("plain"))),
        *links_of(mail.part("html")),
    }


def links_of(page: str) -> set[str]:
    """Of a page: attributes and style sheets; without their fragments, which nobody is sent."""
    root = lxml.html.document_fromstring(page)
    found = {
        element.get(name).partition("#")[0]
        for element in root.iter()
        for name in _LINKING
        if element.get(name)
    }
    written = (link.partition("#")[0] for link in _IN_TEXT.findall(page))
    return {link for link in (*found, *written) if link}
