"""The function `followers`, joined."""

from collections.abc import Callable
from functools import cache

import boto3

from gazette.adapters.aws.queues import SqsQueue, decode_followers, encode_followers
from gazette.bootstrap.parts.routing import activities, announce, routing_context
from gazette.domain.ports.clock import TimeLeft
from gazette.settings import FollowersSettings
from gazette.steps.ingest.followers import walk_followers


@cache
def build() -> Callable[[str, TimeLeft], int]:
    """Takes the body of one message and what is left of the invocation. Built once per process.

    What it returns says how many followers the message concerned.
    """
    settings = FollowersSettings.from_env()
    announce(settings)
    sqs = boto3.client("sqs")
    stored = activities(settings)
    queue = SqsQueue(sqs, settings.followers_queue_url, encode_followers)
    context = routing_context(settings, sqs)

    def run(body: str, time_left: TimeLeft) -> int:
        return walk_followers(
            decode_followers(body),
            activities=stored,
            followers_queue=queue,
            context=context,
            time_left=time_left,
        )

    return run
