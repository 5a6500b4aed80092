"""The hosts to which links of events may lead. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_ENTRY = re.compile(rf"(?:\*\.)?(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
"""`example.com` or `*.example.com`.

RFC 1035, section 2.3.4 limits the length of names and labels.
"""

_NAME = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
"""A host that every browser reads literally.

Parsers differ on other hosts, because browsers decode percent-encoded bytes before they look a host
up (https://url.spec.whatwg.org/#host-parsing).
"""

_PORT = re.compile(r":[0-9]*\Z")


@dataclass(frozen=True, slots=True)
class LinkHosts:
    """The hosts that a stage allows, in lower case; any host if none is listed."""

    exact: frozenset[str] = frozenset()
    """Full host names such as `example.com`."""

    endings: tuple[str, ...] = ()
    """Endings such as `.example.com`, which allow subdomains."""

    @classmethod
    def of(cls, entries: Iterable[object]) -> "LinkHosts":
        """Return the hosts for entries such as `example.com` and `*.example.com`.

        `*.` stands for one label or more: subdomains of any depth, but not the domain itself.
        Raises ValueError, naming the first invalid entry.
        """
        hosts = [_entry(each) for each in entries]
        return cls(
            frozenset(each for each in hosts if not each.startswith("*")),
            tuple(each.removeprefix("*") for each in hosts if each.startswith("*")),
        )

    def allow(self, url: str) -> bool:
        """Return True if a link may lead to `url`, an absolute http or https URL, on any port."""
        if not self.exact and not self.endings:
            return True
        host = _host(url)
        if not _NAME.fullmatch(host):
            return False
        name = host.lower()
        return name in self.exact or name.endswith(self.endings)


def host_of(url: str) -> str:
    """Return the host of an absolute URL in lower case, without the port, as far as it is
    readable."""
    return _host(url).lower()


def _host(url: str) -> str:
    """Return the host without the final dot of a complete name (RFC 3986, section 3.2.2)."""
    authority = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]
    return _PORT.sub("", authority).removesuffix(".")


def _entry(given: object) -> str:
    if not isinstance(given, str) or not _ENTRY.fullmatch(given):
        raise ValueError(
            f"{ascii(given)[:80]} is not a host: write example.com for one host, or "
            "*.example.com for its subdomains, without scheme, port and path; a name of other "
            "letters in Punycode (xn--…)"
        )
    return given.lower()
