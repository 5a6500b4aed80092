"""The function `preferences`, joined."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial

import boto3

from gazette.adapters.aws.bus import EventBridgeBus, events_client
from gazette.adapters.aws.link_keys import cached_keys
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.feedback.engagement import DynamoEngagements
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.preference_page import PreferencePages
from gazette.adapters.rendering.sheets import Sheets
from gazette.adapters.web.links import LinkReader, SignedLinks
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.preference_page import PreferencePage
from gazette.bootstrap.parts.routing import announce, routing_context
from gazette.bootstrap.parts.templates import renderer, templates
from gazette.domain.links import Purpose
from gazette.domain.model import RunKey
from gazette.domain.ports.rendering import Pages
from gazette.settings import PreferencesSettings
from gazette.steps.preferences.view import ViewContext, view_email, view_updates
from gazette.steps.subscribers.unsubscribe import note_left_by, unsubscribe


@dataclass(frozen=True, slots=True)
class Preferences:
    """`leaver`, `chooser` and `run` return the run that a token names, or raise InvalidToken.

    `styles` and `images` are what a Content-Security-Policy has to let in for the pages.
    """

    pages: Pages
    styles: str
    images: str
    leaver: Callable[[str], RunKey]
    chooser: Callable[[str], RunKey]
    run: Callable[[str], RunKey]
    email: Callable[[RunKey], str | None]
    updates: Callable[[RunKey], str | None]
    unsubscribe: Callable[[RunKey], bool]
    page: PreferencePage


@cache
def build() -> Preferences:
    """Built once per process."""
    settings = PreferencesSettings.from_env()
    keys = cached_keys(settings.links_secret, clock=now)
    links = LinkReader(keys=keys.get, newer_keys=keys.refreshed)
    sheets = Sheets(templates())
    pages = JinjaPages(sheets)
    suppressions = DynamoSuppressions(settings.suppressions_table, clock=now)
    events = DynamoEventReader(settings.events_table, clock=now)
    known = routing_context(
        settings, boto3.client("sqs")
    )  # after the reader: the last binding holds
    retention = timedelta(days=settings.run_retention_days)
    note_left = partial(
        note_left_by,
        runs=known.runs,
        engagements=DynamoEngagements(settings.engagement_table, retention=retention),
        clock=now,
    )

    def leave(email: RunKey) -> bool:
        found = unsubscribe(
            email.user_id,
            subscribers=known.subscribers,
            suppressions=suppressions,
            schedules=known.schedules,
            runs=known.runs,
        )
        if found:
            note_left(email)
        return found

    viewing = ViewContext(
        runs=known.runs,
        subscribers=known.subscribers,
        events=events,
        renderer=renderer(),
        link_maker=SignedLinks(base_url=settings.base_url, keys=keys.get),
        pages=pages,
        clock=now,
        max_groups=settings.max_groups,
    )
    return Preferences(
        pages=pages,
        styles=sheets.styles,
        images=sheets.images,
        leaver=partial(links.run, purpose=Purpose.UNSUBSCRIBE),
        chooser=partial(links.run, purpose=Purpose.PREFERENCES),
        run=partial(links.run, purpose=Purpose.RUN),
        email=partial(view_email, by=viewing),
        updates=partial(view_updates, by=viewing),
        unsubscribe=leave,
        page=PreferencePage(
            pages=PreferencePages(sheets, templates()),
            context=known,
            suppressions=suppressions,
            announce=cache(partial(announce, settings)),
            note_left_by=note_left,
            bus=EventBridgeBus(events_client(), settings.bus, source="gazette.preferences"),
        ),
    )
