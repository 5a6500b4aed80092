"""The function `followers`, joined."""

from collections.abc import Callable
from functools import cache

import boto3

from gazette.adapters.queues import SqsFollowersQueue, decode_followers
from gazette.bootstrap.placing import activities, places
from gazette.settings import FollowersSettings
from gazette.steps.followers import bring


@cache
def build() -> Callable[[str], int]:
    """Takes the body of one message; returns how many followers it concerned."""
    settings = FollowersSettings.from_env()
    sqs = boto3.client("sqs")
    stored = activities(settings)
    queue = SqsFollowersQueue(sqs, settings.followers_queue_url)
    placed = places(settings, sqs)

    def run(body: str) -> int:
        return bring(
            decode_followers(body), activities=stored, followers_queue=queue, places=placed
        )

    return run
