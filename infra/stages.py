"""Reads and checks a stage of cdk.json."""

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from email.errors import MessageError
from email.headerregistry import Address
from pathlib import Path
from typing import Any, get_origin

from gazette.settings.budgets import LONGEST_INVOCATION, MAX_RATE_WITH_SMTP
from gazette.settings.concurrency import LEAST, MOST
from gazette.settings.ranges import RANGES

from infra.guards import wrong_settings
from infra.sender_domain import wrong_with_domain
from infra.stage import Stage
from infra.topology import GENERATE, PREFERENCES, TABLES

ROOT = Path(__file__).parents[1]

_LONGEST_WINDOW = 60
"""Seconds. SQS allows 300; more than a minute would delay what somebody waits for."""


class StageError(Exception):
    """A stage in cdk.json that cannot be deployed. The text names the field and what to do."""


def read_stage(name: str, stages: Mapping[str, Mapping[str, Any]]) -> Stage:
    """The stage `name` of cdk.json. Raises StageError."""
    if name not in stages:
        known = ", ".join(sorted(stages))
        raise StageError(
            f"There is no stage {name!r} in cdk.json; it has {known}. "
            "Choose one with `-c stage=NAME` (of `gazette`: `--stage NAME`), or add it under "
            "context.stages."
        )
    given = stages[name]
    types = {each.name: each.type for each in fields(Stage) if each.name != "name"}
    for setting, value in given.items():
        if setting not in types:
            raise StageError(
                f"Stage {name!r} in cdk.json: there is no setting {setting!r}; "
                "docs/configuration.md lists them."
            )
        if setting == "concurrency" and type(value) is int:
            raise StageError(
                f"Stage {name!r} in cdk.json: concurrency is by function now: instead of {value} "
                f'write {{"generate": {value}}}, or leave it out: then it follows the rate.'
            )
        if type(value) is not (get_origin(types[setting]) or types[setting]):
            kind = getattr(types[setting], "__name__", types[setting])
            raise StageError(f"Stage {name!r} in cdk.json: {setting} must be of type {kind}.")
    for setting in ("sender", "list_id"):
        if not given.get(setting):
            raise StageError(f"Stage {name!r} in cdk.json: {setting} is missing.")
    if not re.fullmatch(r"[a-z][a-z0-9]{0,15}", name):
        raise StageError(f"Stage {name!r} in cdk.json: a name is 1 to 16 of a-z and 0-9.")
    stage = Stage(name=name, **given)
    _check_streams(stage)
    if wrong := wrong_with_domain(stage):
        raise StageError(f"Stage {name!r} in cdk.json: {wrong}")
    if stage.tls not in ("optional", "require"):
        raise StageError(f"Stage {name!r} in cdk.json: tls must be optional or require.")
    if not re.fullmatch(r"[A-Za-z0-9.-]{1,200}", stage.list_id):
        raise StageError(f"Stage {name!r} in cdk.json: list_id must be like digest.shop.example.")
    if stage.templates and not (ROOT / stage.templates).is_dir():
        raise StageError(
            f"Stage {name!r} in cdk.json: templates is {stage.templates!r}, and there is no such "
            "folder beside cdk.json."
        )
    if stage.base_url and not stage.base_url.startswith(("https://", "http://127.0.0.1:")):
        raise StageError(f"Stage {name!r} in cdk.json: base_url must begin with https://.")
    for setting, most in (("requests_per_second", 10_000), ("requests_burst", 5_000)):
        if not 1 <= getattr(stage, setting) <= most:
            raise StageError(
                f"Stage {name!r} in cdk.json: {setting} must be 1 to {most}: API Gateway gives "
                "an account no more."
            )
    if stage.mail_provider == "ses" and (
        stage.send_timeout + stage.commit_margin > GENERATE.timeout
    ):
        raise StageError(
            f"Stage {name!r} in cdk.json: send_timeout and commit_margin together must be at most "
            f"{GENERATE.timeout}, the time-out of generate."
        )
    if stage.sized(GENERATE).timeout > LONGEST_INVOCATION:
        raise StageError(
            f"Stage {name!r} in cdk.json: smtp_reply_timeout, nine times smtp_command_timeout and "
            f"commit_margin make an email take {stage.sized(GENERATE).timeout} seconds with what "
            f"comes before; they must leave it at {LONGEST_INVOCATION}, the longest that a "
            "function may take."
        )
    _check_concurrency(stage)
    if not 0 <= stage.preferences_concurrency <= 1000:
        raise StageError(
            f"Stage {name!r} in cdk.json: preferences_concurrency must be 0 to 1000; 0 reserves "
            "nothing."
        )
    _check_windows(stage)
    _check_restorable(stage)
    if found := list(wrong_settings(stage)):
        raise StageError(
            "\ngazette: ".join(f"Stage {name!r} in cdk.json: {each}" for each in found)
        )
    for setting, allowed in RANGES.items():
        if getattr(stage, setting) not in allowed:
            raise StageError(f"Stage {name!r} in cdk.json: {setting} must be {allowed}.")
    if stage.mail_provider == "smtp" and not stage.smtp_host:
        raise StageError(f"Stage {name!r} in cdk.json: mail_provider smtp needs smtp_host.")
    if stage.mail_provider == "smtp" and stage.unknown_policy == "resend":
        raise StageError(
            f"Stage {name!r} in cdk.json: mail_provider smtp needs unknown_policy carry_over or "
            "assume_sent: nothing reports what became of an email, and resend would wait for that."
        )
    if stage.mail_provider == "smtp" and (
        stage.track_clicks or stage.track_opens or stage.feedback_by_sns
    ):
        raise StageError(
            f"Stage {name!r} in cdk.json: track_clicks, track_opens and feedback_by_sns need "
            "mail_provider ses: nothing else reports what became of an email."
        )
    if stage.opens_are_life and not stage.track_opens:
        raise StageError(
            f"Stage {name!r} in cdk.json: opens_are_life needs track_opens: else no open is "
            "reported."
        )
    if stage.mail_provider == "smtp" and stage.emails_per_second > MAX_RATE_WITH_SMTP:
        raise StageError(
            f"Stage {name!r} in cdk.json: emails_per_second must be at most {MAX_RATE_WITH_SMTP} "
            "with mail_provider smtp: each email writes one row of DynamoDB."
        )
    if stage.mail_provider == "smtp" and not stage.emails_per_second:
        raise StageError(
            f"Stage {name!r} in cdk.json: mail_provider smtp needs emails_per_second: no quota of "
            "SES says how many emails a second your server takes."
        )
    return stage


def _check_concurrency(stage: Stage) -> None:
    known = [name for name in replace(stage, concurrency={}).sizes if name != PREFERENCES.name]
    for name, number in stage.concurrency.items():
        if name not in known or type(number) is not int or not LEAST <= number <= MOST:
            raise StageError(
                f"Stage {stage.name!r} in cdk.json: concurrency must give some of "
                f"{', '.join(known)} a number of {LEAST} to {MOST}, not {name!r} {number!r}."
            )
    if stage.account_concurrency < 10:
        raise StageError(
            f"Stage {stage.name!r} in cdk.json: account_concurrency must be 10 or more; no account "
            "has less."
        )


def _check_windows(stage: Stage) -> None:
    for setting in ("ingest_window", "feedback_window"):
        if not 0 <= getattr(stage, setting) <= _LONGEST_WINDOW:
            raise StageError(
                f"Stage {stage.name!r} in cdk.json: {setting} must be 0 to {_LONGEST_WINDOW}."
            )
    if 2 * stage.feedback_window > stage.evidence_grace:
        raise StageError(
            f"Stage {stage.name!r} in cdk.json: feedback_window must be at most half of "
            f"evidence_grace, {stage.evidence_grace // 2}: unknown_policy would decide while the "
            "evidence is being gathered."
        )


def _check_restorable(stage: Stage) -> None:
    optional = [table.name for table in TABLES if not table.is_irreplaceable]
    for name in stage.restorable:
        if name not in optional:
            raise StageError(
                f"Stage {stage.name!r} in cdk.json: restorable must name some of "
                f"{', '.join(optional)}, not {name!r}; the other tables are restorable anyway."
            )


def _check_streams(stage: Stage) -> None:
    for setting, stream in zip(("sender", "immediate_sender"), stage.streams, strict=True):
        if not stream.sender.isprintable():
            raise StageError(f"Stage {stage.name!r} in cdk.json: {setting} must be one line.")
        try:
            Address(addr_spec=stream.address)
        except (ValueError, IndexError, MessageError) as err:
            raise StageError(
                f"Stage {stage.name!r} in cdk.json: {setting} must be an address, such as "
                "'Shop <digest@shop.example>'."
            ) from err
        if not stream.address.isascii():
            raise StageError(
                f"Stage {stage.name!r} in cdk.json: {setting} must have an address in ASCII; only "
                "its display name may have other letters. Write the domain as Punycode (xn--…)."
            )
        if stream.pool and stage.mail_provider != "ses":
            raise StageError(
                f"Stage {stage.name!r} in cdk.json: {stream.name}_pool is a dedicated IP pool of "
                "SES and needs mail_provider ses."
            )
        if not re.fullmatch(r"[a-z0-9_-]{0,64}", stream.pool):
            raise StageError(
                f"Stage {stage.name!r} in cdk.json: {stream.name}_pool must be the name of a "
                "dedicated IP pool, such as digests: up to 64 of a-z, 0-9, _ and -."
            )
