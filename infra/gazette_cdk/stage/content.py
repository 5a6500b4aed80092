"""Settings of the content sources: a reader's events, and items from your own service."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from gazette.domain.links import has_host
from gazette.settings.ranges import ASKED_SOURCE, LISTS

from gazette_cdk.stage.checks.wrong import Wrong

_URL = re.compile(
    r"https://[A-Za-z0-9\[][!-~]*|http://(?:localhost|127\.0\.0\.1|\[::1\])[:/][!-~]*"
)
_PICTURE = re.compile(r"https://[A-Za-z0-9\[][!-~]*")
_SECRET_NAME = re.compile(r"[A-Za-z0-9/_+=.@-]{1,512}")
"""The pattern of a secret's name.
https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html
"""

RECOMMENDATION = "recommendation"
"""The category of items from the recommendation service."""

_LONGEST_URL = 500
"""The maximum length of a URL in characters. Lambda limits a function's environment variables to 4
KB. https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""


@dataclass(frozen=True, kw_only=True)
class Content:
    """Content sources."""

    content_sources: list[str] = field(default_factory=lambda: [LISTS["content_sources"][0]])
    """The content sources of digests, in the order in which an email shows them. With `["events",
    "recommendations"]`, Gazette also fetches items from [your own service](content.md).

    Must contain `events`.
    """

    recommendations_url: str = ""
    """The endpoint of the service, such as `https://recommend.shop.example/v1/items`.

    Must be an https URL of at most 500 characters. On loopback, http is also allowed. Required with
    `recommendations`.
    """

    recommendations_secret: str = ""
    """The name of the Secrets Manager secret that contains the service's bearer token. Empty: no
    token.

    Must be the name, not the ARN. With a wrong token the service rejects all requests, and the
    circuit breaker opens.
    """

    recommendations_per_second: int = 10
    """[requests a second] The maximum rate of requests from all workers together, including
    retries.

    1 to 1,000, because each request writes one row. Too low: digests wait, or are sent without
    items.
    """

    recommendations_ramp_from: int = 1
    """[requests a second] The initial request rate after a pause or an outage. The rate doubles
    every 30 seconds while requests are waiting. 0: no ramp.

    0 to 1,000. Too high: a cold service is overloaded at once.
    """

    recommendations_timeout: timedelta = timedelta(seconds=3)
    """The time-out of a request, from its start to the end of the response.

    1 to 10. Too short: slow responses count as failures, and five failures open the circuit
    breaker.
    """

    recommendations_items: int = 5
    """[items] The maximum number of items in a digest.

    1 to 20. Each item costs two write units."""

    recommendations_lead: timedelta = timedelta(0)
    """The period before the due time of a digest in which Gazette may fetch the digest's items.
    Gazette spreads the requests evenly over this period. 0: Gazette fetches the items when the
    digest is due.

    0 to 1,440 in steps of 10, and at most `recommendations_fresh_for`.
    """

    recommendations_fresh_for: timedelta = timedelta(days=1)
    """The maximum age of items when the digest is due. Gazette fetches older items again.

    10 to 10,080.
    """

    recommendations_policy: str = "without"
    """The behaviour if the items of a digest are missing when the digest is due. `without`: wait
    for `recommendations_patience`, then send the digest without items. `wait`: wait until
    `max_lateness`.

    `without` or `wait`. With `wait`, an outage of the service delays digests for hours.
    """

    recommendations_patience: timedelta = timedelta(minutes=10)
    """The time for which a digest waits for its items before it is sent without them.

    60 to 3,600, and at most half of `max_lateness`.
    """

    recommendations_fallback_image: str = ""
    """The URL of an image for items without an image. Empty: no image.

    Must be an https URL of at most 500 characters.
    """

    @property
    def asks_source(self) -> bool:
        """True if the stage has the function `content` and its queue."""
        return ASKED_SOURCE in self.content_sources


def wrong_with_content(stage: Content) -> Iterator[Wrong]:
    """Yield the problems with the content sources."""
    if stage.asks_source and not stage.recommendations_url:
        yield Wrong(
            "content_sources has recommendations, so recommendations_url is required. Set it to "
            "the endpoint of your service.",
            of=("content_sources", "recommendations_url"),
        )
    if stage.recommendations_url and not _fits(_URL, stage.recommendations_url):
        yield Wrong(
            "recommendations_url must be an https URL (http on loopback only) of at most "
            f"{_LONGEST_URL} characters.",
            of=("recommendations_url",),
        )
    if stage.recommendations_secret and not _SECRET_NAME.fullmatch(stage.recommendations_secret):
        yield Wrong(
            "recommendations_secret must be the name of a secret, not its ARN: at most 512 "
            "letters, digits and /_+=.@-.",
            of=("recommendations_secret",),
        )
    picture = stage.recommendations_fallback_image
    if picture and not _fits(_PICTURE, picture):
        yield Wrong(
            "recommendations_fallback_image must be an https URL of at most "
            f"{_LONGEST_URL} characters.",
            of=("recommendations_fallback_image",),
        )
    if stage.recommendations_lead % timedelta(minutes=10):
        yield Wrong(
            "recommendations_lead must be a multiple of 10, because a slot has ten minutes.",
            of=("recommendations_lead",),
        )
    if stage.recommendations_lead > stage.recommendations_fresh_for:
        yield Wrong(
            "recommendations_lead must be at most recommendations_fresh_for. Otherwise the items "
            "would be stale when the digest is due, and Gazette would fetch them twice.",
            of=("recommendations_lead", "recommendations_fresh_for"),
        )


def _fits(pattern: re.Pattern[str], url: str) -> bool:
    return len(url) <= _LONGEST_URL and bool(pattern.fullmatch(url)) and has_host(url)
