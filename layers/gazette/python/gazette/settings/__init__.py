"""One frozen dataclass per function: what the infrastructure writes and the function reads.

Durations are whole seconds unless the name says otherwise. Nothing is read at import.
"""

from gazette.settings.budgets import LONGEST_INVOCATION, invocation_of_one, smtp_budget
from gazette.settings.delivery import (
    MAX_EMAILS_PER_SECOND,
    FanoutSettings,
    GenerateSettings,
    PacingSettings,
    ResendSettings,
    SendingSettings,
)
from gazette.settings.environment import InvalidSetting, Settings
from gazette.settings.feedback import FeedbackSettings, SweepSettings
from gazette.settings.ingest import (
    EVENT_WRITE_TIMEOUT_MS,
    ActivitiesSettings,
    FollowersSettings,
    IngestSettings,
    RoutingSettings,
)
from gazette.settings.preferences import PreferencesSettings

__all__ = [
    "EVENT_WRITE_TIMEOUT_MS",
    "LONGEST_INVOCATION",
    "MAX_EMAILS_PER_SECOND",
    "ActivitiesSettings",
    "FanoutSettings",
    "FeedbackSettings",
    "FollowersSettings",
    "GenerateSettings",
    "IngestSettings",
    "InvalidSetting",
    "PacingSettings",
    "PreferencesSettings",
    "ResendSettings",
    "RoutingSettings",
    "SendingSettings",
    "Settings",
    "SweepSettings",
    "invocation_of_one",
    "smtp_budget",
]
