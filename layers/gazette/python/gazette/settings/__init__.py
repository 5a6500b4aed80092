"""One module per stage of the flow, and in it one frozen dataclass per function.

The stack writes what the function reads. Durations are whole seconds unless the name says
otherwise. Nothing is read at import.
"""

from gazette.settings.budgets import LONGEST_INVOCATION, invocation_of_one, smtp_budget
from gazette.settings.delivery import (
    GenerateSettings,
    PacingSettings,
    ResendSettings,
    SendingSettings,
)
from gazette.settings.environment import InvalidSetting, Settings
from gazette.settings.fanout import FanoutSettings
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import (
    EVENT_WRITE_TIMEOUT_MS,
    ActivitiesSettings,
    FollowersSettings,
    IngestSettings,
    RoutingSettings,
)
from gazette.settings.preferences import PreferencesSettings
from gazette.settings.ranges import RANGES
from gazette.settings.sweep import SweepSettings

__all__ = [
    "EVENT_WRITE_TIMEOUT_MS",
    "LONGEST_INVOCATION",
    "RANGES",
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
