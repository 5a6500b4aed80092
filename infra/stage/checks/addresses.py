"""Domains and addresses, as settings may name them."""

from collections.abc import Iterator
from email.utils import getaddresses, parseaddr

from gazette.domain.subscribers.addresses import ADDRESS, DOMAIN

from infra.stage.checks.wrong import Wrong


def is_domain(text: str) -> bool:
    """Whether it has two labels or more, in lower case; an international one as Punycode."""
    return text == text.lower() and bool(DOMAIN.fullmatch(text))


def is_address(text: str) -> bool:
    """Whether it is one address in ASCII, without a display name, as events are held to it."""
    return bool(ADDRESS.fullmatch(text))


def is_under(domain: str, parent: str) -> bool:
    """Whether `domain` is `parent` or a subdomain of it."""
    return domain == parent or domain.endswith(f".{parent}")


def domain_of(sender: str) -> str:
    """The domain of an address, with or without a display name; empty if it has none."""
    return parseaddr(sender)[1].rpartition("@")[2]


def wrong_domain(setting: str, domain: str) -> Iterator[Wrong]:
    """What is wrong with a setting that must be a domain or empty."""
    if domain and not is_domain(domain):
        written = domain.lower() if is_domain(domain.lower()) else "mail.shop.example"
        yield Wrong(f"{setting} must be a domain in lower case, such as {written}.", of=(setting,))


def wrong_sender(setting: str, sender: str) -> Iterator[Wrong]:
    """What is wrong with a setting that email comes from.

    The right to send names the ARN of an identity, and ARNs differ by case. Which case SES writes
    into it is on no page that we found: with lower case there is one.
    """
    address = parseaddr(sender)[1]
    local, _, domain = address.rpartition("@")
    if not sender.isprintable():
        yield Wrong(f"{setting} must be one line.", of=(setting,))
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
