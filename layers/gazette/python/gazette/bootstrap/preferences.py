"""The function `preferences`, joined."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial

from gazette.adapters.events import DynamoEventReader
from gazette.adapters.links import LinkReader, SignedLinks
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.runs import DynamoRuns
from gazette.adapters.schedules import DynamoSchedules
from gazette.adapters.subscribers import DynamoSubscribers
from gazette.adapters.suppressions import DynamoSuppressions
from gazette.bootstrap.clock import now
from gazette.bootstrap.secrets import link_keys
from gazette.bootstrap.templates import renderer, templates
from gazette.domain.model import RunKey
from gazette.domain.ports import Pages
from gazette.domain.tokens import Purpose
from gazette.settings import PreferencesSettings
from gazette.steps.unsubscribe import unsubscribe
from gazette.steps.viewing import Viewing, view_email, view_updates


@dataclass(frozen=True, slots=True)
class Preferences:
    """`leaver` and `run` return whom or what a token names, or raise InvalidToken.

    `styles` names the style of the pages in a Content-Security-Policy.
    """

    pages: Pages
    styles: str
    leaver: Callable[[str], str]
    run: Callable[[str], RunKey]
    email: Callable[[RunKey], str | None]
    updates: Callable[[RunKey], str | None]
    unsubscribe: Callable[[str], bool]


@cache
def build() -> Preferences:
    """Built once per process."""
    settings = PreferencesSettings.from_env()
    keys = link_keys(settings.links_secret)
    links = LinkReader(keys=keys.known, newer_keys=keys.newer)
    pages = JinjaPages(templates())
    subscribers = DynamoSubscribers(settings.subscribers_table)
    runs = DynamoRuns(settings.runs_table, retention=timedelta(days=settings.run_retention_days))
    viewing = Viewing(
        runs=runs,
        subscribers=subscribers,
        events=DynamoEventReader(settings.events_table, clock=now),
        renderer=renderer(),
        link_maker=SignedLinks(base_url=settings.base_url, keys=keys.known),
        pages=pages,
        max_groups=settings.max_groups,
    )
    return Preferences(
        pages=pages,
        styles=pages.styles,
        leaver=partial(links.reader, purpose=Purpose.UNSUBSCRIBE),
        run=links.run,
        email=partial(view_email, by=viewing),
        updates=partial(view_updates, by=viewing),
        unsubscribe=partial(
            unsubscribe,
            subscribers=subscribers,
            suppressions=DynamoSuppressions(settings.suppressions_table, clock=now),
            schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
            runs=runs,
        ),
    )
