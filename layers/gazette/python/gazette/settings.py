"""One frozen dataclass per function: what the infrastructure writes and the function reads.

Durations are whole seconds unless the name says otherwise. Nothing is read at import.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import Any, Self

_PREFIX = "GAZETTE_"
_CATEGORY = re.compile(r"[a-z][a-z0-9_]{0,31}")
_FREQUENCIES = {"never", "immediate", "daily", "weekly", "custom"}

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
class PlacingSettings(Settings):
    """What every function that puts events in their place needs.

    `default_frequencies` is JSON: category to frequency, for readers who chose none. `collapse`:
    how long an immediate email collects what else happens on the same entity. `sunset_days`: after
    how many days without a sign of life a reader rests; 0: never.
    """

    subscribers_table: str
    schedules_table: str
    follows_table: str
    activities_table: str
    events_table: str
    runs_table: str
    generate_queue_url: str
    followers_queue_url: str
    shards: int
    default_frequencies: str
    collapse: int
    settle_lag: int
    clock_skew: int
    check_after: int
    sunset_days: int
    event_retention_days: int
    run_retention_days: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting. What is hidden by SQS is hidden for 900 s at most."""
        _check(
            self,
            shards=(1, 256),
            collapse=(1, 300),
            settle_lag=(1, 300),
            clock_skew=(0, 60),
            check_after=(0, None),
            sunset_days=(0, None),
            event_retention_days=(35, None),
        )
        try:
            chosen = json.loads(self.default_frequencies)
        except ValueError:
            chosen = None
        if (
            not isinstance(chosen, dict)
            or not all(map(_CATEGORY.fullmatch, chosen))
            or not set(map(str, chosen.values())) <= _FREQUENCIES
        ):
            raise InvalidSetting(
                f"GAZETTE_DEFAULT_FREQUENCIES is {self.default_frequencies!r}; it must give each "
                f"category one of {', '.join(sorted(_FREQUENCIES))}."
            )


@dataclass(frozen=True, kw_only=True)
class IngestSettings(PlacingSettings):
    """What `ingest` needs."""

    suppressions_table: str
    quarantine_queue_url: str


@dataclass(frozen=True, kw_only=True)
class FollowersSettings(PlacingSettings):
    """What `followers` needs."""


@dataclass(frozen=True, kw_only=True)
class FanoutSettings(Settings):
    """What `fanout` needs. `spread`: longest random delay of a message, at most SQS's 900 s.

    `max_lateness`: what was due longer ago is not sent; its events go with the next digest.
    `lookback_slots`: how many slots are read again, because the due index is eventually consistent.
    `emails_per_second` is 0 where the account's quota has to be asked for.
    """

    subscribers_table: str
    schedules_table: str
    events_table: str
    runs_table: str
    batches_table: str
    shard_queue_url: str
    generate_queue_url: str
    shards: int
    lookback_slots: int
    spread: int
    settle_lag: int
    max_lateness: int
    check_after: int
    sunset_days: int
    run_retention_days: int
    pace_table: str
    emails_per_second: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting. SQS hides a message for 900 s at most."""
        _check(
            self,
            spread=(0, 900),
            shards=(1, 256),
            lookback_slots=(0, 144),
            check_after=(0, None),
            sunset_days=(0, None),
            settle_lag=(1, 300),
            max_lateness=(600, None),
        )


@dataclass(frozen=True, kw_only=True)
class PacingSettings(Settings):
    """What everybody needs who paces email or shows how fast it goes.

    `emails_per_second`: 0 for the account's quota. `ramp_from`: emails a second for a cold
    downstream, doubled at most each `ramp_every`; 0 for no ramp. `warmup_daily`: the cap of
    `warmup_from`, a date of UTC or empty, doubled each day after.
    """

    pace_table: str
    emails_per_second: int
    ramp_from: int
    ramp_every: int
    warmup_from: str
    warmup_daily: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting. A stretch of the ramp is three waits of five seconds."""
        _check(
            self,
            emails_per_second=(0, 10_000),
            ramp_from=(0, 10_000),
            ramp_every=(15, 3600),
            warmup_daily=(1, 1_000_000),
        )
        try:
            if self.warmup_from:
                date.fromisoformat(self.warmup_from)
        except ValueError as err:
            raise InvalidSetting(
                f"GAZETTE_WARMUP_FROM is {self.warmup_from!r}; it must be empty or a date such as "
                "2026-11-21."
            ) from err


@dataclass(frozen=True, kw_only=True)
class GenerateSettings(PacingSettings):
    """What `generate` needs. `mail_provider` is `ses` or `smtp`."""

    generate_queue_url: str
    subscribers_table: str
    events_table: str
    runs_table: str
    batches_table: str
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
        super().__post_init__()
        _check(
            self,
            send_timeout=(3, 60),
            commit_margin=(5, None),
            clock_skew=(0, None),
            max_groups=(1, None),
            event_retention_days=(35, None),
        )
        _check_choice(
            self, mail_provider=("ses", "smtp"), smtp_security=("tls", "starttls", "none")
        )
        if self.mail_provider == "smtp" and not self.emails_per_second:
            raise InvalidSetting(
                "GAZETTE_EMAILS_PER_SECOND is 0, the quota of SES: with GAZETTE_MAIL_PROVIDER smtp "
                "it must say how many emails a second your server takes."
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
    suppressions_table: str
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
