"""The function `preferences`, joined."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial

from gazette.adapters.links import LinkReader
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.runs import DynamoRuns
from gazette.adapters.schedules import DynamoSchedules
from gazette.adapters.subscribers import DynamoSubscribers
from gazette.adapters.suppressions import DynamoSuppressions
from gazette.bootstrap.clock import now
from gazette.bootstrap.secrets import link_keys
from gazette.bootstrap.templates import templates
from gazette.domain.ports import Pages
from gazette.domain.tokens import Purpose
from gazette.settings import PreferencesSettings
from gazette.steps.unsubscribe import unsubscribe


@dataclass(frozen=True, slots=True)
class Preferences:
    """`leaver` returns the user id of a token to unsubscribe with, or raises InvalidToken."""

    pages: Pages
    leaver: Callable[[str], str]
    unsubscribe: Callable[[str], bool]


@cache
def build() -> Preferences:
    """Built once per process."""
    settings = PreferencesSettings.from_env()
    keys = link_keys(settings.links_secret)
    links = LinkReader(keys=keys.known, newer_keys=keys.newer)
    return Preferences(
        pages=JinjaPages(templates()),
        leaver=partial(links.reader, purpose=Purpose.UNSUBSCRIBE),
        unsubscribe=partial(
            unsubscribe,
            subscribers=DynamoSubscribers(settings.subscribers_table),
            suppressions=DynamoSuppressions(settings.suppressions_table, clock=now),
            schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
            runs=DynamoRuns(
                settings.runs_table, retention=timedelta(days=settings.run_retention_days)
            ),
        ),
    )
