"""Composition root of the `followers` function, which connects the step to its adapters."""

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from gazette.adapters.aws.queues import SqsQueue, decode_followers, encode_followers, sqs_client
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.routing import activities, announce, routing_context
from gazette.bootstrap.parts.versions import versions_in_force
from gazette.domain.ports.clock import TimeLeft
from gazette.settings.ingest import FollowersSettings
from gazette.steps.ingest.followers import walk_followers

if TYPE_CHECKING:
    from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions


@cache
def build() -> Callable[[str, TimeLeft], int]:
    """Return a function that processes a message, given the body and the remaining time.

    Built once per process.

    The function returns the number of followers in the message.
    """
    settings = FollowersSettings.from_env()
    announce(settings)
    sqs = sqs_client()
    return partial(
        walk_followers,
        decode=decode_followers,
        activities=activities(settings),
        followers_queue=SqsQueue(sqs, settings.followers_queue_url, encode_followers),
        context=routing_context(
            settings,
            sqs,
            in_force=versions_in_force(settings.control_table),
            suppressions=_suppressions(settings),
        ),
    )


def _suppressions(settings: FollowersSettings) -> "DynamoSuppressions | None":
    """Return the suppressed addresses, or None if the stage has no critical categories.

    Only critical categories require them.
    """
    if not settings.critical:
        return None
    # Import here, because only some stages use these modules.
    from gazette.adapters.aws.suppression_key import read_suppression_key
    from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions

    key = read_suppression_key(settings.suppressions_secret)
    return DynamoSuppressions(settings.suppressions_table, key=key, clock=now)
