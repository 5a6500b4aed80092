"""What differs between stages, as plain data read from cdk.json."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from email.errors import MessageError
from email.headerregistry import Address
from email.utils import parseaddr
from pathlib import Path
from typing import Any, get_origin

from gazette.settings import (
    LONGEST_INVOCATION,
    MAX_EMAILS_PER_SECOND,
    invocation_of_one,
    smtp_budget,
)

from infra.topology import GENERATE, RESEND, Step

ROOT = Path(__file__).parents[1]


class StageError(Exception):
    """A stage in cdk.json that cannot be deployed. The text names the field and what to do."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Emails with a sender, a configuration set and perhaps a dedicated IP pool of their own."""

    name: str
    sender: str
    pool: str

    @property
    def address(self) -> str:
        """The address in `sender`, without the display name."""
        return parseaddr(self.sender)[1]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One installation. Durations are whole seconds.

    `sender` is an address of a verified SES identity; `immediate_sender` is one for what goes out
    at once (default: `sender`); `digest_pool` and `immediate_pool` are dedicated IP pools of SES by
    which each of the two is sent (default: as the account sends);
    `base_url` is where readers reach the preferences function (default: its own HTTP API, which
    takes `requests_per_second`, and `requests_burst` at once, of all readers together);
    `templates` is a folder, seen from that of cdk.json, whose files go before those of
    `templates/`; `retain` keeps data when a stack is deleted; `default_frequencies` says by
    category how often those readers hear of it who chose nothing (where it says nothing:
    daily); `collapse` is how long an immediate email collects; `max_lateness` is how late a
    digest may still go out; `sunset_days` is how long after the last
    sign of life a reader is still written to (0: for ever);
    `emails_per_second` is how fast email goes out, 0 for nine tenths of the account's SES quota;
    `ramp_from` is how fast after a pause, 0 for no ramp, and it doubles at most each `ramp_every`;
    `send_timeout` is how long SES may take for one email; an SMTP server has `smtp_reply_timeout`
    from the end of the message to its answer, and `smtp_command_timeout` for each stage before;
    `warmup_daily` is how many emails a new sending domain may send on `warmup_from`, a date of
    UTC or empty, and the number doubles each day after;
    `immediate_share` is how much of all that is for email at once, in per cent; the rest is for
    digests, and neither uses the other's;
    `unknown_policy` says what becomes of an email of which nobody knows whether it went out, once
    SES has reported nothing for `evidence_grace`: `resend` (once more, as soon as reports are
    known to come in, and for `longest_doubt` at most), `carry_over` (its events come again with the
    next one) or `assume_sent`;
    `soft_bounces` soft bounces of an address within `soft_bounce_days` suppress it, as a hard one
    does at once;
    `track_clicks` and `track_opens` let SES report clicks and opens, for which it leads links by a
    server of its own and puts a picture into each email; a click is a sign of life, and with
    `opens_are_life` an open too;
    `reports_by_sns` lets SES report all of it by way of an SNS topic as well, beside EventBridge;
    `category_hold` stops a category of which too many emails bounce or are complained of;
    `ticks` lets the clock start digests and the sweep; `host_layers` builds for this machine
    instead of Lambda's.
    """

    name: str
    sender: str
    list_id: str
    base_url: str = ""
    templates: str = ""
    requests_per_second: int = 50
    requests_burst: int = 100
    bus: str = "gazette"
    alarm_email: str = ""
    immediate_sender: str = ""
    digest_pool: str = ""
    immediate_pool: str = ""
    mail_provider: str = "ses"
    smtp_host: str = ""
    smtp_port: int = 465
    smtp_security: str = "tls"
    smtp_secret: str = ""
    smtp_command_timeout: int = 20
    smtp_reply_timeout: int = 600
    retain: bool = True
    ticks: bool = True
    host_layers: bool = False
    shards: int = 16
    lookback_slots: int = 6
    max_lateness: int = 21600
    spread: int = 600
    emails_per_second: int = 0
    ramp_from: int = 10
    ramp_every: int = 30
    warmup_from: str = ""
    warmup_daily: int = 200
    immediate_share: int = 20
    check_after: int = 3600
    collapse: int = 20
    settle_lag: int = 15
    send_timeout: int = 10
    commit_margin: int = 8
    clock_skew: int = 5
    evidence_grace: int = 900
    longest_doubt: int = 21600
    unknown_policy: str = "resend"
    soft_bounces: int = 5
    soft_bounce_days: int = 14
    max_groups: int = 20
    event_retention_days: int = 35
    run_retention_days: int = 200
    sunset_days: int = 45
    concurrency: int = 20
    track_clicks: bool = False
    track_opens: bool = False
    opens_are_life: bool = False
    reports_by_sns: bool = False
    category_hold: bool = True
    default_frequencies: dict[str, str] = field(default_factory=dict)

    @property
    def streams(self) -> tuple[Stream, Stream]:
        """Digests, and what goes out at once."""
        return (
            Stream("digest", self.sender, self.digest_pool),
            Stream("immediate", self.immediate_sender or self.sender, self.immediate_pool),
        )

    def sized(self, step: Step) -> Step:
        """The step as this stage needs it.

        An SMTP server may take ten minutes for an email, so with one who sends gets a single
        message at a time, and the time for it: none is given back because time ran out.
        """
        if self.mail_provider != "smtp" or step not in {GENERATE, RESEND}:
            return step
        budget = smtp_budget(command=self.smtp_command_timeout, reply=self.smtp_reply_timeout)
        timeout = invocation_of_one(budget=budget, commit_margin=self.commit_margin)
        return replace(step, batch_size=1, timeout=timeout)


def read_stage(name: str, stages: Mapping[str, Mapping[str, Any]]) -> Stage:
    """The stage `name` of cdk.json. Raises StageError."""
    if name not in stages:
        known = ", ".join(sorted(stages))
        raise StageError(
            f"There is no stage {name!r} in cdk.json; it has {known}. "
            "Choose one with `-c stage=NAME` or add it under context.stages."
        )
    given = stages[name]
    types = {each.name: each.type for each in fields(Stage) if each.name != "name"}
    for setting, value in given.items():
        if setting not in types:
            raise StageError(
                f"Stage {name!r} in cdk.json: there is no setting {setting!r}; "
                "infra/stages.py lists them."
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
    if not 1 <= stage.shards <= 256:
        raise StageError(f"Stage {name!r} in cdk.json: shards must be 1 to 256.")
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
    if not 2 <= stage.concurrency <= 1000:
        raise StageError(f"Stage {name!r} in cdk.json: concurrency must be 2 to 1000.")
    if not 0 <= stage.emails_per_second <= MAX_EMAILS_PER_SECOND:
        raise StageError(
            f"Stage {name!r} in cdk.json: emails_per_second must be 0 to {MAX_EMAILS_PER_SECOND}: "
            "each email is a write of one row of DynamoDB, which takes little more."
        )
    for setting, most in (
        ("soft_bounces", 100),
        ("soft_bounce_days", 365),
        ("immediate_share", 99),
    ):
        if not 1 <= getattr(stage, setting) <= most:
            raise StageError(f"Stage {name!r} in cdk.json: {setting} must be 1 to {most}.")
    if stage.mail_provider == "smtp" and not stage.smtp_host:
        raise StageError(f"Stage {name!r} in cdk.json: mail_provider smtp needs smtp_host.")
    if stage.mail_provider == "smtp" and stage.unknown_policy == "resend":
        raise StageError(
            f"Stage {name!r} in cdk.json: mail_provider smtp needs unknown_policy carry_over or "
            "assume_sent: nothing reports what became of an email, and resend would wait for that."
        )
    if stage.mail_provider == "smtp" and (
        stage.track_clicks or stage.track_opens or stage.reports_by_sns
    ):
        raise StageError(
            f"Stage {name!r} in cdk.json: track_clicks, track_opens and reports_by_sns need "
            "mail_provider ses: nothing else reports what became of an email."
        )
    if stage.opens_are_life and not stage.track_opens:
        raise StageError(
            f"Stage {name!r} in cdk.json: opens_are_life needs track_opens: else no open is "
            "reported."
        )
    if stage.mail_provider == "smtp" and not stage.emails_per_second:
        raise StageError(
            f"Stage {name!r} in cdk.json: mail_provider smtp needs emails_per_second: no quota of "
            "SES says how many emails a second your server takes."
        )
    return stage


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
