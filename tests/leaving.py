"""The links in an email by which its reader leaves, told apart by their scope."""

import base64
import re

_LINK = re.compile(r"https?://[^\s<>\"']+/unsubscribe/[\w.-]+")


def scope_of(link: str) -> str:
    """The scope in a link's token, such as `all` or `c:mention`; nothing is verified."""
    payload = link.rpartition("/")[2].split(".")[1]
    return base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode().split(".")[1]


def leaving_everything(text: str) -> str:
    """The link in the text of an email that ends all email."""
    link: str
    (link,) = {link for link in _LINK.findall(text) if scope_of(link) == "all"}
    return link


def link_of_scope(text: str, scope: str) -> str:
    """The link in the text of an email whose scope begins so, such as `m:` to mute a thing."""
    link: str
    (link,) = {link for link in _LINK.findall(text) if scope_of(link).startswith(scope)}
    return link


def without_space(html: str) -> str:
    """An email without white space."""
    return "".join(html.split())
