"""Checks of domains and addresses in settings."""

import re
from collections.abc import Iterator
from email.utils import getaddresses, parseaddr
from ipaddress import ip_address

from gazette.domain.subscribers.addresses import ADDRESS, DOMAIN, in_ascii

from gazette_cdk.stage.checks.wrong import Wrong

_HOST_NAME = re.compile(
    r"(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?",
    re.IGNORECASE,
)
"""The pattern of a host name (RFC 1123, section 2.1): labels of at most 63 letters, digits and
hyphens.
"""

_NO_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""The pattern of characters that a single line must not contain: line breaks, control characters,
bidirectional controls and lone surrogates.
"""


def is_domain(text: str) -> bool:
    """Return True for a lower-case domain of two or more labels, with international names in
    Punycode.
    """
    return text == text.lower() and bool(DOMAIN.fullmatch(text))


def is_address(text: str) -> bool:
    """Return True if the text is one ASCII email address without a display name."""
    return bool(ADDRESS.fullmatch(text))


def is_under(domain: str, parent: str) -> bool:
    """Return True if `domain` is `parent` or one of its subdomains."""
    return domain == parent or domain.endswith(f".{parent}")


def domain_of(sender: str) -> str:
    """Return the domain of an address, which may have a display name. Return an empty string if
    the address has no domain.
    """
    return parseaddr(sender)[1].rpartition("@")[2]


def wrong_domain(setting: str, domain: str) -> Iterator[Wrong]:
    """Yield a problem if a setting is neither empty nor a domain."""
    if domain and not is_domain(domain):
        written = domain.lower() if is_domain(domain.lower()) else "mail.shop.example"
        yield Wrong(f"{setting} must be a domain in lower case, such as {written}.", of=(setting,))


def wrong_host(setting: str, host: str) -> Iterator[Wrong]:
    """Yield a problem if a setting is neither empty nor the host name or IP address of a server.

    Without this check, name lookup or TLS would fail, but only when an email is sent.
    """
    if not host or _is_host(host):
        return
    written = in_ascii(host)
    example = written if _is_host(written) else "smtp.shop.example"
    yield Wrong(
        f"{setting} must be a host name in ASCII or an IP address, without scheme, port, path or "
        f"spaces. Write it like {example}; international names are in Punycode (xn--…).",
        of=(setting,),
    )


def _is_host(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        is_number = text.rpartition(".")[2].isdigit()  # the text is an invalid IP address
        return bool(_HOST_NAME.fullmatch(text)) and not is_number
    return True


def wrong_sender(setting: str, sender: str) -> Iterator[Wrong]:
    """Yield the problems with the value of a sender setting.

    The domain must be in lower case, because the permission to send contains the identity's ARN,
    and ARNs are case-sensitive. The SES documentation does not specify the case that SES uses in
    the ARN.
    """
    address = parseaddr(sender)[1]
    local, _, domain = address.rpartition("@")
    if _NO_LINE.search(sender):
        yield Wrong(f"{setting} must be one line without control characters.", of=(setting,))
    if "=?" in sender:
        yield Wrong(
            f"{setting} must not have encoded words (=?…?=). Write its display name as people read "
            "it; Gazette encodes it.",
            of=(setting,),
        )
    if local.isascii() and not domain.isascii():
        yield Wrong(
            f"{setting} must have an address in ASCII; only its display name may have other "
            "letters. Write the domain as Punycode (xn--…).",
            of=(setting,),
        )
    elif not is_address(address) or len(getaddresses([sender])) > 1:
        yield Wrong(
            f"{setting} must be an address, such as 'Shop <digest@shop.example>'.", of=(setting,)
        )
    elif domain != domain.lower():
        yield Wrong(
            f"{setting} must have its domain in lower case: {local}@{domain.lower()}.",
            of=(setting,),
        )
