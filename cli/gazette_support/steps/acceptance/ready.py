"""The conditions under which a stage can send the emails of an acceptance."""

from collections.abc import Iterator, Sequence

from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.domain.feedback.reputation import CategoryHold

from gazette_support.domain.acceptance.readers import CATEGORIES


def refusals(
    streams: Streams[PaceReading], holds: Sequence[CategoryHold], *, digests: int, immediate: int
) -> Iterator[str]:
    """Yield the reasons not to begin: a stopped stream, a full daily limit, or a held category."""
    yield from _of_stream("digest", streams.digest, digests)
    yield from _of_stream("immediate", streams.immediate, immediate)
    for hold in holds:
        if hold.category in CATEGORIES:
            yield (
                f"The category {hold.category} is on hold. Run `gazette sending resume --category "
                f"{hold.category}`."
            )


def _of_stream(name: str, pace: PaceReading, emails: int) -> Iterator[str]:
    if pace.breaker:
        yield (
            f"The stream of {name} email is stopped. Fix the cause, then run `gazette sending "
            "resume`."
        )
    if pace.cap is not None and pace.cap - pace.taken < emails:
        yield (
            f"The daily limit of the warm-up has room for {max(0, pace.cap - pace.taken)} of "
            f"{emails} {name} emails. Run the command tomorrow (UTC)."
        )
    remaining = pace.quota.left if pace.quota else None
    if remaining is not None and remaining < emails:
        yield (
            f"The daily quota of the account has room for {max(0, remaining)} of {emails} {name} "
            "emails. Run the command when the quota is free again."
        )
