"""The content sources of a stage. Only stages that query a content source import this module."""

import json
from datetime import timedelta

from gazette.domain.content.asking import ContentPlan, ContentSources
from gazette.domain.scheduling.calendar import SLOT


def sources(text: str) -> ContentSources:
    """Return the content sources from the value of the `content_sources` setting."""
    return ContentSources(sources=tuple(json.loads(text)))


def content_plan(text: str, *, lead: timedelta, fresh_for: timedelta) -> ContentPlan:
    """Return the plan for querying content sources."""
    return ContentPlan(
        sources=tuple(json.loads(text)),
        lead=lead // SLOT,
        fresh_for=fresh_for,
    )
