"""One frozen dataclass per function: what the infrastructure writes and the function reads.

Durations are whole seconds unless the name says otherwise. Nothing is read at import.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

_PREFIX = "GAZETTE_"

EVENT_WRITE_TIMEOUT_MS = 1500
"""The longest that one attempt to write an event takes: the settle lag must be longer."""


class InvalidSetting(Exception):
    """A setting that is missing or out of range. The text names the variable."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Fields become environment variables: `runs_table` is `GAZETTE_RUNS_TABLE`."""

    def to_env(self) -> dict[str, str]:
        """The environment variables of this function."""
        return {_variable(name): str(value) for name, value in asdict(self).items()}

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """The settings in `environ`. Raises InvalidSetting, naming the variable."""
        values: dict[str, Any] = {}
        for field in fields(cls):
            variable = _variable(field.name)
            if variable not in environ:
                raise InvalidSetting(f"{variable} is not set; the CDK stack writes it.")
            try:
                values[field.name] = (
                    int(environ[variable]) if field.type is int else (environ[variable])
                )
            except ValueError as err:
                raise InvalidSetting(
                    f"{variable} is {environ[variable]!r}; it must be a whole number."
                ) from err
        return cls(**values)


def _variable(name: str) -> str:
    return _PREFIX + name.upper()


@dataclass(frozen=True, kw_only=True)
class IngestSettings(Settings):
    """What `ingest` needs."""

    subscribers_table: str
    schedules_table: str
    events_table: str
    quarantine_queue_url: str
    shards: int
    event_retention_days: int


@dataclass(frozen=True, kw_only=True)
class FanoutSettings(Settings):
    """What `fanout` needs. `spread`: longest random delay of a message, at most SQS's 900 s."""

    schedules_table: str
    runs_table: str
    shard_queue_url: str
    generate_queue_url: str
    shards: int
    lookback_slots: int
    spread: int
    check_after: int
    run_retention_days: int

    def __post_init__(self) -> None:
        """SQS hides a message for 900 s at most."""
        if not 0 <= self.spread <= 900:
            raise InvalidSetting(f"GAZETTE_SPREAD is {self.spread}; it must be 0 to 900 seconds.")


@dataclass(frozen=True, kw_only=True)
class GenerateSettings(Settings):
    """What `generate` needs. `mail_provider` is `ses` or `smtp`."""

    subscribers_table: str
    events_table: str
    runs_table: str
    links_secret: str
    base_url: str
    mail_provider: str
    sender: str
    list_id: str
    configuration_set: str
    smtp_host: str
    smtp_port: int
    smtp_security: str
    smtp_secret: str
    settle_lag: int
    send_timeout: int
    commit_margin: int
    clock_skew: int
    max_groups: int
    event_retention_days: int
    run_retention_days: int

    def __post_init__(self) -> None:
        """A window must never end where a write is still under way."""
        if self.settle_lag * 1000 <= EVENT_WRITE_TIMEOUT_MS:
            raise InvalidSetting(
                f"GAZETTE_SETTLE_LAG is {self.settle_lag}; it must be more than "
                f"{EVENT_WRITE_TIMEOUT_MS / 1000} seconds, the longest write of an event."
            )
        if self.mail_provider not in {"ses", "smtp"}:
            raise InvalidSetting(
                f"GAZETTE_MAIL_PROVIDER is {self.mail_provider!r}; it must be ses or smtp."
            )
        if self.run_retention_days <= self.event_retention_days:
            raise InvalidSetting(
                "GAZETTE_RUN_RETENTION_DAYS must be more than GAZETTE_EVENT_RETENTION_DAYS: "
                "a run says which events were sent."
            )


@dataclass(frozen=True, kw_only=True)
class PreferencesSettings(Settings):
    """What `preferences` needs."""

    subscribers_table: str
    schedules_table: str
    runs_table: str
    links_secret: str
    shards: int
    run_retention_days: int
