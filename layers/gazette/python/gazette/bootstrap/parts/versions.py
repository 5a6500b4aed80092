"""The template versions in force, for functions that do not render email."""

from collections.abc import Callable

from gazette.adapters.cached import Cached, once
from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.bootstrap.parts.clock import now
from gazette.domain.templates.ports import VersionsInForce
from gazette.domain.templates.settings import VersionSettings
from gazette.domain.templates.versions import NOTHING_PUSHED, InForce, version_for
from gazette.settings.ranges import RANGES


def versions_in_force(control_table: str) -> VersionsInForce:
    """Return a function that reads the versions in force at most once a minute."""
    cached = once(
        lambda: Cached[InForce](
            DynamoTemplateVersions(control_table, ranges=RANGES).in_force,
            clock=now,
            default=NOTHING_PUSHED,
        )
    )
    return lambda: cached().get()


def settings_for(in_force: VersionsInForce) -> Callable[[str], VersionSettings]:
    """Return a function that returns the settings of a user's template version."""
    return lambda user_id: version_for(user_id, in_force()).settings
