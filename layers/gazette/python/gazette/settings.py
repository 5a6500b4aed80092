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
        """Raises InvalidSetting. SQS hides a message for 900 s at most."""
        _check(
            self, spread=(0, 900), shards=(1, 256), lookback_slots=(0, 1008), check_after=(0, None)
        )


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
        """Raises InvalidSetting. A window must never end where a write is still under way."""
        _check(
            self,
            send_timeout=(3, 60),
            commit_margin=(5, None),
            clock_skew=(0, None),
            max_groups=(1, None),
            event_retention_days=(1, None),
        )
        _check_choice(
            self, mail_provider=("ses", "smtp"), smtp_security=("tls", "starttls", "none")
        )
        if self.settle_lag * 1000 <= EVENT_WRITE_TIMEOUT_MS + self.clock_skew * 1000:
            raise InvalidSetting(
                f"GAZETTE_SETTLE_LAG is {self.settle_lag}; it must be more than "
                f"{EVENT_WRITE_TIMEOUT_MS / 1000} seconds, the longest write of an event, plus "
                f"GAZETTE_CLOCK_SKEW, which is {self.clock_skew}."
            )
        if self.smtp_security == "none" and self.smtp_secret:
            raise InvalidSetting(
                "GAZETTE_SMTP_SECURITY is 'none': the password would go over the wire as text. "
                "Use tls or starttls, or no smtp_secret."
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


def _check(settings: Settings, **ranges: tuple[int, int | None]) -> None:
    for name, (least, most) in ranges.items():
        value = getattr(settings, name)
        if value < least or (most is not None and value > most):
            allowed = f"{least} to {most}" if most is not None else f"{least} or more"
            raise InvalidSetting(f"{_variable(name)} is {value}; it must be {allowed}.")


def _check_choice(settings: Settings, **choices: tuple[str, ...]) -> None:
    for name, allowed in choices.items():
        value = getattr(settings, name)
        if value not in allowed:
            raise InvalidSetting(
                f"{_variable(name)} is {value!r}; it must be one of {', '.join(allowed)}."
            )
