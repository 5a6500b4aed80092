"""Settings of the links in emails and of the limits on requests."""

from collections.abc import Iterator
from dataclasses import dataclass

from gazette.domain.links import has_host
from gazette.settings.ranges import Range

from gazette_cdk.stage.checks.addresses import is_domain
from gazette_cdk.stage.checks.wrong import Wrong, no_choice, out_of_range
from gazette_cdk.stage.owner import NOTHING

_RANGES = {
    "requests_per_second": Range(1, 10_000, "API Gateway gives an account no more"),
    "preferences_concurrency": Range(0, 1000, "0 reserves nothing"),
}

_FRONT_RATE_LIMIT = Range(100, 1_000_000)

_OF_A_DOMAIN = ("links_certificate", "api_address", "front_rate_limit")

FRONTS = ("ready", "open", "only")
"""The values of the `front` setting, in the order in which they are deployed."""


@dataclass(frozen=True, kw_only=True)
class Links:
    """Links in emails."""

    links_domain: str = ""
    """The domain of the links in emails, such as `links.shop.example`. The domain [does not
    change](links.md) if you replace the stack. `none`: links use the HTTP API's own address.

    Needs `hosted_zone` or `links_certificate`. Synthesis refuses the domain of another stage in the
    same Region. With `retain`, `links_domain` or `base_url` is required. Links are valid for two
    years, but links to the API's own address break when the service stack is deleted.
    """

    links_certificate: str = ""
    """The ARN of an ACM certificate for `links_domain`. Empty: the stack creates one in
    `hosted_zone`.

    Must be in the Region of the stage, even with `front_rate_limit`.
    """

    api_address: bool = False
    """Access to the HTTP API at its own address, in addition to `links_domain`.

    Must be `true` if earlier emails have links to that address. Otherwise these links break.
    Synthesis refuses `true` with `front_rate_limit`, because the limit would not apply to that
    address.
    """

    front_rate_limit: int = 0
    """[requests in five minutes] The limit of requests to `links_domain` from one IP address. It
    applies before the rate limit for all readers. The limit is a WAF rule of [the
    front](links.md#a-limit-for-each-address), a CloudFront distribution. 0: no front and no limit.

    0, or 100 to 1,000,000. Too low: one-click unsubscribes are rejected, because mailbox providers
    send them from few addresses. Needs `links_domain` and `region`.
    """

    front: str = "only"
    """The state of the front, if `front_rate_limit` is set. `ready`: the front exists, and links
    point to the HTTP API. `open`: links point to the front, and the HTTP API still accepts requests
    at `links_domain`. `only`: all requests go through the front. Synthesis refuses `ready` and
    `open` without `front_rate_limit`.

    After the first email has been sent, [deploy one state after the
    other](links.md#switch-the-front-on-or-off). If you skip a state, links fail for a minute or
    two.
    """

    front_certificate: str = ""
    """The ARN of an ACM certificate for `links_domain` in `us-east-1`. Empty: the stack creates one
    in `hosted_zone`.

    Must be in `us-east-1`. Required with `front_rate_limit` if the DNS zone is at another provider.
    Synthesis refuses it without `front_rate_limit`."""

    base_url: str = ""
    """The base URL of links in emails, if it is neither `links_domain` nor the HTTP API's own
    address. Your server at this URL must forward requests to the API.

    Must begin with `https://`, or without `retain` also with `http://127.0.0.1:`. If your server
    does not forward requests to the API, links in emails are broken.
    """

    requests_per_second: int = 50
    """[requests a second] The rate limit of the HTTP API for all readers combined. The burst limit
    is twice as many requests.

    1 to 10,000. The API answers further requests with 429.
    """

    preferences_concurrency: int = 0
    """[invocations] The reserved concurrency of the function that responds to readers' requests. 0:
    no reservation.

    0 to 1,000. With a reservation, readers and other functions cannot take concurrency from each
    other. Lambda refuses a reservation that leaves fewer than 100 unreserved invocations, so the
    setting must be 0 in an account with a limit of 100 or less. Too low: readers are rejected.
    """

    @property
    def links_host(self) -> str:
        """The domain of the links in emails, or an empty string if the setting is unset."""
        return "" if self.links_domain == NOTHING else self.links_domain


def _front_without_limit(links: Links) -> Iterator[Wrong]:
    """Yield the problems with settings that have no effect without a front."""
    if links.front_rate_limit:
        return
    is_set = {
        "front": links.front in FRONTS[:-1],
        "front_certificate": bool(links.front_certificate),
    }
    for setting in is_set:
        if is_set[setting]:
            yield Wrong(
                f"{setting} needs front_rate_limit, because there is no front without it. Remove "
                f"{setting} or set front_rate_limit.",
                of=(setting, "front_rate_limit"),
            )


MOST_IN_A_BURST = 5_000
"""The maximum burst that API Gateway allows an account.
https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
"""


def burst_of(rate: int) -> int:
    """Return the burst limit of an HTTP API with a rate limit: two seconds of requests."""
    return min(2 * rate, MOST_IN_A_BURST)


def wrong_with_links(links: Links) -> Iterator[Wrong]:
    """Yield the problems with the settings of links."""
    yield from out_of_range(links, _RANGES)
    yield from no_choice(links, {"front": FRONTS})
    if links.base_url and not links.base_url.startswith(("https://", "http://127.0.0.1:")):
        yield Wrong("base_url must begin with https://.", of=("base_url",))
    elif links.base_url and not has_host(links.base_url):
        yield Wrong(
            "base_url is not a URL with a host. Write it like https://links.shop.example.",
            of=("base_url",),
        )
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
            "links_domain and base_url cannot be used together. Remove one of them.",
            of=("links_domain", "base_url"),
        )
    if not links.front_rate_limit:
        yield from _front_without_limit(links)
        return
    if links.front_rate_limit not in _FRONT_RATE_LIMIT:
        yield Wrong(
            f"front_rate_limit must be {_FRONT_RATE_LIMIT}, or 0 for no front and no limit.",
            of=("front_rate_limit",),
        )
    if links.api_address:
        yield Wrong(
            "front_rate_limit and api_address cannot be used together, because the limit does not "
            "apply to the API's own address. Remove one of them.",
            of=("front_rate_limit", "api_address"),
        )
