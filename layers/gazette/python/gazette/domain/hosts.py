"""The hosts that event links may point to. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_ENTRY = re.compile(rf"(?:\*\.)?(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
"""The pattern of an allowed host: `example.com` or `*.example.com`.

RFC 1035, section 2.3.4 limits the length of names and labels.
"""

_NAME = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
"""The pattern of host names that all browsers interpret in the same way.

Parsers differ on other hosts, because browsers decode percent-encoded bytes before they look up a
host (https://url.spec.whatwg.org/#host-parsing).
"""

_PORT = re.compile(r":[0-9]*\Z")


@dataclass(frozen=True, slots=True)
class LinkHosts:
    """The hosts that a stage allows in links, in lower case. If none are listed, any host is
    allowed."""

    exact: frozenset[str] = frozenset()
    """The allowed host names, such as `example.com`."""

    endings: tuple[str, ...] = ()
    """The allowed host name suffixes, such as `.example.com`, which match subdomains."""

    @classmethod
    def of(cls, entries: Iterable[object]) -> "LinkHosts":
        """Parse entries such as `example.com` and `*.example.com`.

        `*.` stands for one or more labels: subdomains of any depth, but not the domain itself.
        Raises ValueError with the first invalid entry.
        """
        hosts = [_entry(each) for each in entries]
        return cls(
            frozenset(each for each in hosts if not each.startswith("*")),
            tuple(each.removeprefix("*") for each in hosts if each.startswith("*")),
        )

    def allow(self, url: str) -> bool:
        """Return True if a link may point to `url`, an absolute http or https URL on any port."""
        if not self.exact and not self.endings:
            return True
        host = _host(url)
        if not _NAME.fullmatch(host):
            return False
        name = host.lower()
        return name in self.exact or name.endswith(self.endings)


def host_of(url: str) -> str:
    """Return the host of an absolute URL in lower case, without the port.

    The result is not validated.
    """
    return _host(url).lower()


def _host(url: str) -> str:
    """Return the host without the trailing dot of a fully qualified name (RFC 3986, section
    3.2.2)."""
    authority = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]
    return _PORT.sub("", authority).removesuffix(".")


def _entry(given: object) -> str:
    if not isinstance(given, str) or not _ENTRY.fullmatch(given):
        raise ValueError(
            f"{ascii(given)[:80]} is not a host: write example.com for one host, or "
            "*.example.com for its subdomains, without a scheme, port or path; write "
            "international names in Punycode (xn--…)"
        )
    return given.lower()
