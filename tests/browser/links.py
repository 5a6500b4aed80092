"""Every link of an email, as a scanner collects them."""

import re

import lxml.html

from demo.ses import Accepted

_IN_TEXT = re.compile(r"https?://[^\s<>\"']+")
_LINKING = ("href", "src", "action", "background")


def links_in(mail: Accepted) -> set[str]:
    """From all headers, the text and the HTML."""
    headers = "\n".join(str(value) for value in mail.message.values())
    return {
        *_IN_TEXT.findall(headers),
        *_IN_TEXT.findall(mail.part("plain")),
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
    return {link for link in {*found, *_IN_TEXT.findall(page)} if link}
