"""One observed request to a recommendation service."""

import json
from collections.abc import Mapping
from time import monotonic

from gazette.adapters.content.connection import Connection, HttpAnswer
from gazette.domain.content.ports import ContentSource, Question
from gazette.domain.errors import SourceFailed

from gazette_support.domain.source_trial import Trial


class ObservedConnection(Connection):
    """A connection that keeps the last response."""

    last: HttpAnswer | None = None

    def get(self, target: str, headers: Mapping[str, str]) -> HttpAnswer:
        """Send one GET request, as the `content` function does. Raises SourceFailed."""
        self.last = None
        self.last = super().get(target, headers)
        return self.last


def try_source(source: ContentSource, question: Question, connection: ObservedConnection) -> Trial:
    """Send one request, without a retry. `connection` is the one that `source` uses."""
    failure: SourceFailed | None = None
    answer = None
    began = monotonic()
    try:
        answer = source.ask(question)
    except SourceFailed as err:
        failure = err
    finally:
        connection.close()
    seconds = monotonic() - began
    last = connection.last
    return Trial(
        question=question,
        status=last.status if last else None,
        seconds=seconds,
        offered=_offered(last.body) if last and answer and last.body else 0,
        answer=answer,
        failure=failure,
    )


def _offered(body: bytes) -> int:
    """Return the number of items in the body of a valid response."""
    return len(json.loads(body)["items"])
