"""The result of one request to a recommendation service. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from gazette.domain.content.items import Answer, Broken, Item, Shown, refreshed
from gazette.domain.content.ports import Question
from gazette.domain.errors import SourceFailed

_BY_STATUS = {
    401: "Store a token that the service accepts in the secret `recommendations_secret`.",
    403: "Allow the token in the secret `recommendations_secret` to read the items.",
    404: "Check the path of the URL. For a reader whom the service does not know, it must respond "
    "with status 204.",
    405: "Let the service respond to GET requests.",
    429: "The service asks for fewer requests. Try again later, or reduce "
    "`recommendations_per_second`.",
    503: "The service asks for fewer requests. Try again later, or reduce "
    "`recommendations_per_second`.",
}
_BY_WORD = (
    (
        "did not answer completely",
        "Make the service faster, or increase `recommendations_timeout`.",
    ),
    ("larger than", "Return fewer items, or shorter texts."),
    ("content encoding", "Do not compress the response."),
    ("The connection failed", "Check the host, the port, the certificate and the network."),
)
_SCHEMA = "Return the JSON that docs/content/answer.schema.json describes."


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The result of one request."""

    question: Question

    # The status of the response, or None without a complete response.
    status: int | None

    seconds: float

    # The number of items in the response.
    offered: int

    # The items that Gazette accepts, or None if the response is not usable.
    answer: Answer | None

    failure: SourceFailed | None = None

    @property
    def problem(self) -> str:
        """The reason why the source is not usable, or "" if it is."""
        if self.failure:
            return str(self.failure)
        if self.offered and not self.items and self.refused:
            return "Every item of the response is invalid."
        return ""

    @property
    def remedy(self) -> str:
        """The action that makes the source usable, or ""."""
        if not self.problem:
            return ""
        if self.failure is None:
            return "Fix the fields below in the service."
        if self.status in _BY_STATUS:
            return _BY_STATUS[self.status]
        if self.status and 300 <= self.status < 400:
            return "Use the URL to which the service redirects."
        if self.status and self.status >= 400:
            return "Read the log of the service."
        return next((todo for word, todo in _BY_WORD if word in self.problem), _SCHEMA)

    @property
    def items(self) -> Sequence[Item]:
        """The items that Gazette accepts, best first."""
        return self.answer.items if self.answer else ()

    @property
    def refused(self) -> Sequence[Broken]:
        """The errors in the items."""
        return self.answer.broken if self.answer else ()

    @property
    def skipped(self) -> int:
        """The number of valid items that have expired, or that repeat the id of another item."""
        invalid = {each.place for each in self.refused if each.is_left_out}
        return max(self.offered - len(invalid) - len(self.items), 0)

    @property
    def shown(self) -> list[Item]:
        """The items that the next digest of a new reader would show."""
        chosen = refreshed(
            self.items,
            waiting=(),
            shown=Shown(),
            user_id=self.question.user_id,
            at=self.question.until,
            limit=self.question.limit,
        )
        return list(self.items)[: len(chosen.offered)]
