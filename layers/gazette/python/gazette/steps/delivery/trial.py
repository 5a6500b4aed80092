"""Test a template version before the first reader gets it."""

from datetime import UTC, datetime

from gazette.domain.delivery.arrangement import DEFAULT
from gazette.domain.delivery.run import Run
from gazette.domain.links import NEW_LINK
from gazette.domain.model import DAILY, Entity, Event, RunKey, Window
from gazette.domain.ports.rendering import Links, VersionTemplates
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.delivery.edition import HARMLESS, make_edition

_AT = datetime(2026, 1, 1, tzinfo=UTC)
_NOBODY = Subscriber(
    user_id="nobody",
    email="nobody@example.invalid",
    name="Nobody",
    locale="en",
    time_zone="UTC",
    changed_at=_AT,
)
_LINKS = Links(
    unsubscribe="https://example.invalid/unsubscribe",
    preferences="https://example.invalid/preferences",
    email="https://example.invalid/email",
    updates="https://example.invalid/updates",
    leave=lambda _: "https://example.invalid/leave",
    fallback="daily",
)
_NEW_LINK = Event(
    user_id="nobody",
    id="link",
    category=NEW_LINK,
    entity=Entity(NEW_LINK, "preferences", "", "https://example.invalid/"),
    actor=None,
    occurred_at=_AT,
)


def try_out(templates: VersionTemplates) -> None:
    """Render an email of each kind in English. Raises RenderingFailed.

    The command that pushed the version has rendered many more emails. This test finds values that
    the running release lacks, such as a variable that only a later release passes to templates.
    """
    immediate = immediate_schedule("post#harmless")
    for schedule, event in ((DAILY, HARMLESS), (immediate, HARMLESS), (immediate, _NEW_LINK)):
        make_edition(
            Run(RunKey("nobody", schedule, 0), _AT, _AT),
            [event],
            _NOBODY,
            _LINKS,
            variation=1,
            templates=templates,
            max_blocks=1,
            arrangement=DEFAULT,
            window=Window(_AT, _AT),
        )
