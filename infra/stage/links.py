"""Where readers' links lead."""

from collections.abc import Iterator
from dataclasses import dataclass

from gazette.settings.ranges import Range

from infra.stage.checks.addresses import is_domain
from infra.stage.checks.wrong import Wrong, no_choice, out_of_range
from infra.stage.owner import NOTHING

_RANGES = {
    "requests_per_second": Range(1, 10_000, "API Gateway gives an account no more"),
    "requests_burst": Range(1, 5_000, "API Gateway gives an account no more"),
    "preferences_concurrency": Range(0, 1000, "0 reserves nothing"),
}

_FRONT_RATE_LIMIT = Range(100, 1_000_000)

_OF_A_DOMAIN = ("links_certificate", "api_address", "front_rate_limit")

FRONTS = ("ready", "open", "only")
"""What `front` may say, in the order in which a stage takes them."""


@dataclass(frozen=True, kw_only=True)
class Links:
    """Where readers' links lead."""

    links_domain: str = ""
    """The domain of the links in emails, such as `links.shop.example`, which
    [stays the same](links.md) whatever becomes of the stack. `none`: the HTTP API's own address.

    Needs `hosted_zone` or `links_certificate`. Synthesis refuses that of another stage in the same
    region. With `retain`, it asks for it or `base_url`: links to the API's own address end with the
    service stack, two years too early."""

    links_certificate: str = ""
    """The ARN of a certificate of ACM for `links_domain`. Empty: one is made in `hosted_zone`.

    Must be of the region of the stage, also with `front_rate_limit`."""

    api_address: bool = False
    """The HTTP API answers at its own address too, beside `links_domain`.

    If emails have led there before and it is not `true`, their links are broken. `true` together
    with `front_rate_limit` is refused: that limit would not hold there."""

    front_rate_limit: int = 0
    """[requests in five minutes] What one IP address may ask of `links_domain`, before the
    throttle of all readers: [the front](links.md#a-limit-for-each-address), which is CloudFront
    with a rule of WAF. 0: no front and no limit.

    0, or 100 to 1,000,000. Too few: one-click unsubscribes come from few addresses of mailbox
    providers, and are turned away. Needs `links_domain` and `region`."""

    front: str = "only"
    """How far the front is in use, with `front_rate_limit`. `ready`: it stands there, and links
    lead to the HTTP API. `open`: links lead to it, and the HTTP API answers beside it. `only`: no
    way leads around it. `ready` and `open` without `front_rate_limit` are refused.

    [Take them one after the other](links.md#switch-the-front-on-or-off) once emails are out: who
    skips one takes links down for a minute or two."""

    front_certificate: str = ""
    """The ARN of a certificate of ACM for `links_domain` in `us-east-1`. Empty: one is made in
    `hosted_zone`.

    Required with `front_rate_limit` if the zone is elsewhere. Of another region, or without
    `front_rate_limit`, it is refused."""

    base_url: str = ""
    """Where readers reach their links, if neither at `links_domain` nor at the stage's own HTTP
    API: an address of yours that leads there.

    Must begin with `https://`; without `retain`, `http://127.0.0.1:` will do. If it leads
    elsewhere, links in emails are broken."""

    requests_per_second: int = 50
    """[requests a second] What the HTTP API takes from all readers together.

    1 to 10,000. What is more is answered with 429."""

    requests_burst: int = 100
    """[requests] What the HTTP API takes at once.

    1 to 5,000."""

    preferences_concurrency: int = 0
    """[invocations] How many requests of readers are worked on at once; 0: as many as come.

    0 to 1,000. It is reserved: readers take no more from the account's other functions, nor those
    from them. Lambda refuses it if less than 100 of the account's limit would be left, so an
    account with a limit of 100 or less must leave it at 0. Too few: readers are turned away."""

    @property
    def links_host(self) -> str:
        """The domain of the links in emails, if they have one; empty if not."""
        return "" if self.links_domain == NOTHING else self.links_domain


def _front_without_limit(links: Links) -> Iterator[Wrong]:
    """What nothing reads while there is no front: whoever leaves it there means something by it."""
    if links.front_rate_limit:
        return
    said = {"front": links.front in FRONTS[:-1], "front_certificate": bool(links.front_certificate)}
    for setting, is_said in said.items():
        if is_said:
            yield Wrong(
                f"{setting} needs front_rate_limit: without it there is no front. Take {setting} "
                "out.",
                of=(setting, "front_rate_limit"),
            )


def wrong_with_links(links: Links) -> Iterator[Wrong]:
    """What no stage may say of where readers' links lead."""
    yield from out_of_range(links, _RANGES)
    yield from no_choice(links, {"front": FRONTS})
    if links.base_url and not links.base_url.startswith(("https://", "http://127.0.0.1:")):
        yield Wrong("base_url must begin with https://.", of=("base_url",))
    if not links.links_host:
        if needing := [each for each in _OF_A_DOMAIN if getattr(links, each)]:
            *others, last = needing
            names = f"{', '.join(others)} and {last} need" if others else f"{last} needs"
            yield Wrong(f"{names} links_domain.", of=("links_domain", *needing))
        yield from _front_without_limit(links)
        return
    if not is_domain(links.links_host):
        yield Wrong(
            "links_domain must be a domain in lower case, such as links.shop.example.",
            of=("links_domain",),
        )
    if links.base_url:
        yield Wrong(
            "links_domain and base_url exclude each other: links lead to one of them.",
            of=("links_domain", "base_url"),
        )
    if not links.front_rate_limit:
        yield from _front_without_limit(links)
        return
    if links.front_rate_limit not in _FRONT_RATE_LIMIT:
        yield Wrong(
            f"front_rate_limit must be {_FRONT_RATE_LIMIT}; 0 is no front and no limit.",
            of=("front_rate_limit",),
        )
    if links.api_address:
        yield Wrong(
            "front_rate_limit and api_address exclude each other: it would not hold there.",
            of=("front_rate_limit", "api_address"),
        )
