"""Which content sources a stage has, and when they are asked. Imported only where one is asked."""

import json
from datetime import timedelta

from gazette.domain.scheduling.asking import ContentPlan, ContentSources
from gazette.domain.scheduling.calendar import SLOT


def sources(given: str) -> ContentSources:
    """Return the content sources that the setting `content_sources` lists."""
    return ContentSources(sources=tuple(json.loads(given)))


def content_plan(given: str, *, lead: int, fresh_for: int) -> ContentPlan:
    """Return the sources and when they are asked; times are in minutes."""
    return ContentPlan(
        sources=tuple(json.loads(given)),
        lead=timedelta(minutes=lead) // SLOT,
        fresh_for=timedelta(minutes=fresh_for),
    )
