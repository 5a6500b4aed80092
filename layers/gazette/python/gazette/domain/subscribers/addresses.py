"""Email addresses, with their valid forms and their canonical spelling. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from unicodedata import normalize

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL_PART = rf"(?=[^@]{{1,64}}@)(?![^@]*=\?){_ATOM}(?:\.{_ATOM})*"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_TOP = r"[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAMES = rf"(?:{_LABEL}\.)+{_TOP}"

DOMAIN = re.compile(rf"(?=.{{1,253}}$){_NAMES}")
"""The pattern of a domain: two or more labels, each of 1 to 63 letters, digits and inner hyphens.

RFC 1035, section 2.3.4, and RFC 1123, section 2.1. An international domain is in Punycode (RFC
5890, section 2.3.2.1). The last label begins with a letter, because some software treats a name
that ends with a number as an IPv4 address (RFC 3696, section 2).
"""

ADDRESS = re.compile(rf"(?=.{{3,254}}$){_LOCAL_PART}@{_NAMES}")
"""The pattern of an ASCII address: a dot-atom of at most 64 characters without `=?`, and a domain.

SES does not support SMTPUTF8, so it rejects other letters:
https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_Destination.html The limit of 254
characters follows from a path in RFC 5321, section 4.5.3.1.3, without its brackets.

`=?` begins an encoded word. An address must not contain an encoded word (RFC 2047, section 5), but
some software decodes it and sends to a different address.
"""

SIMULATOR = "simulator.amazonses.com"
"""The domain of SES's mailbox simulator, whose addresses belong to no person.

It works in the sandbox, and affects neither the daily quota of SES nor the reputation. Its emails
are billed, and limited by the sending rate. The text after `+` is a label, which it ignores.
https://docs.aws.amazon.com/ses/latest/dg/send-an-email-from-console.html#send-email-simulator
"""


@dataclass(frozen=True, slots=True)
class AllowedRecipients:
    """The only recipients of a stage's email, in canonical spelling. Everyone if none are listed.

    The addresses of SES's mailbox simulator are always allowed.
    """

    addresses: frozenset[str] = frozenset()
    """The allowed addresses, such as `ann@shop.example`."""

    domains: frozenset[str] = frozenset()
    """The domains whose addresses are all allowed, such as `shop.example`."""

    @classmethod
    def of(cls, entries: Iterable[object]) -> "AllowedRecipients":
        """Parse entries such as `ann@shop.example` and `@shop.example`.

        Raises ValueError with the first invalid entry.
        """
        allowed = [_allowed(each) for each in entries]
        return cls(
            frozenset(each for each in allowed if not each.startswith("@")),
            frozenset(each.removeprefix("@") for each in allowed if each.startswith("@")),
        )

    @property
    def is_everyone(self) -> bool:
        """Return True if the stage sends to every address."""
        return not (self.addresses or self.domains)

    def allow(self, address: str) -> bool:
        """Return True if the stage may send email to the address.

        A subdomain of an allowed domain is not allowed.
        """
        known = canonical(address)
        local, _, domain = known.rpartition("@")
        is_of_domain = bool(local) and domain in {*self.domains, SIMULATOR}
        return self.is_everyone or known in self.addresses or is_of_domain


EVERYONE = AllowedRecipients()
"""The recipients of a stage without a list."""


def _allowed(given: object) -> str:
    if isinstance(given, str) and "*" not in given:
        whole = given.startswith("@") and DOMAIN.fullmatch(given[1:])
        if whole or ADDRESS.fullmatch(given):
            return f"@{in_ascii(given[1:])}" if whole else canonical(given)
    raise ValueError(
        f"{ascii(given)[:80]} is not a recipient: write ann@example.com for one address, or "
        "@example.com for every address of a domain; write international domains in Punycode "
        "(xn--…)"
    )


_LONGEST_LABEL = 63
_DOT_ATOM = re.compile(r'[^\s"(),:;<>@\[\\\].]+(?:\.[^\s"(),:;<>@\[\\\].]+)*')
_UNSEEN = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
"""Zero-width characters, which are often copied together with an address."""


def canonical(address: str) -> str:
    """Return the canonical spelling of an address. An ASCII address is converted to lower case.

    Local parts may be case-sensitive (RFC 5321, section 2.4), but no major mailbox provider treats
    them as case-sensitive. A reader who unsubscribed must not get email at a different spelling of
    the address. Quotes that a local part does not need are dropped (RFC 5321, section 4.1.2), and
    domains become Punycode. Any text has a result, even if the text is not an address.
    """
    text = address.strip().strip(_UNSEEN).strip()
    local, at, domain = text.rpartition("@")
    if not at:
        return _lower("NFC", text)
    return f"{_unquoted(_lower('NFC', local))}@{in_ascii(domain)}"


def _lower(form: Literal["NFC", "NFKC"], text: str) -> str:
    """Return text in lower case and in a Unicode normal form.

    Both steps are repeated, because each step can undo the other.
    """
    return normalize(form, normalize(form, text).lower())


def _unquoted(local: str) -> str:
    if len(local) < 2 or local[0] != '"' or local[-1] != '"':
        return local
    content = re.sub(r"\\(.)", r"\1", local[1:-1], flags=re.DOTALL)
    if _DOT_ATOM.fullmatch(content):
        return content
    quoted = re.sub(r'(["\\])', r"\\\1", content)
    return f'"{quoted}"'


def in_ascii(domain: str) -> str:
    """Return a domain in Punycode, without a final dot.

    Follows UTS 46 (https://www.unicode.org/reports/tr46/), except for characters that no domain may
    contain. Python's codec `idna` would turn `straße` into `strasse`, which is a different domain.
    """
    name = _lower("NFKC", domain).replace("\u3002", ".").removesuffix(".")
    return ".".join(
        label
        if label.isascii() or len(label) > _LONGEST_LABEL
        else f"xn--{label.encode('punycode').decode()}"
        for label in name.split(".")
    )
