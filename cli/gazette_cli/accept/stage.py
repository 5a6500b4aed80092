"""The deployed stage that an acceptance uses."""

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import boto3
from gazette.domain.console.levels import Level
from gazette.domain.errors import Unavailable
from gazette.domain.identity import address_hash
from gazette.domain.sources import Sources
from gazette.domain.subscribers.addresses import ADDRESS
from gazette.settings.delivery import GenerateSettings
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings
from gazette.settings.preferences import PreferencesSettings

from gazette_cli.accept.state import State
from gazette_cli.doctor.command import findings_of
from gazette_cli.imports.producer import producer_module
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.console import NotPossible, printable
from gazette_cli.shared.deployed import settings_of
from gazette_support.bootstrap.acceptance import AcceptanceSettings
from gazette_support.bootstrap.sending import build_sending
from gazette_support.domain.acceptance.readers import allowed_source, next_due
from gazette_support.steps.acceptance.context import AcceptanceContext, Publish
from gazette_support.steps.acceptance.ready import refusals
from gazette_support.steps.sending import held_categories, read_streams

_SANDBOX = "ses sandbox"
"""The check of doctor that warns of the SES sandbox."""


def acceptance_settings(stage: str) -> AcceptanceSettings:
    """Return the settings of the deployed functions. Raises NotPossible."""
    return AcceptanceSettings(
        ingest=settings_of(stage, "ingest", IngestSettings),
        generate=settings_of(stage, "generate", GenerateSettings),
        feedback=settings_of(stage, "feedback", FeedbackSettings),
        preferences=settings_of(stage, "preferences", PreferencesSettings),
    )


def publisher(settings: AcceptanceSettings) -> Publish:
    """Return a function that publishes on the bus of the stage, by an allowed source."""
    module = producer_module()
    sources = Sources.of(json.loads(settings.ingest.sources))
    bus = settings.preferences.bus

    def publish(detail_type: str, details: Sequence[Mapping[str, Any]]) -> None:
        source = allowed_source(detail_type, sources)
        client = boto3.client("events")
        try:
            module.Producer(source, bus=bus, client=client).put(details, detail_type)
        except module.NotPut as err:
            raise Unavailable(
                f"{err}. Your credentials need events:PutEvents for the source {source}."
            ) from err

    return publish


def begin(
    stage: str, settings: AcceptanceSettings, *, to: str, folder: Path, clock: datetime
) -> State:
    """Return the state of a new acceptance. Raises NotPossible for an invalid address."""
    if to and not ADDRESS.fullmatch(to):
        raise NotPossible(f"--to {printable(to)!r} is not an email address.")
    if to and not settings.generate.allowed.allow(to):
        raise NotPossible(
            f"The stage does not send to {printable(to)}, because the address is not in its "
            "setting allowed_recipients. Specify an allowed address, or add this one and deploy."
        )
    if not to and not settings.is_ses:
        raise NotPossible(
            "The stage sends by SMTP, which has no mailbox simulator. Specify --to with an address "
            "of your own that no reader has."
        )
    acceptance = secrets.token_hex(4)
    return State(
        path=folder / f"accept-{stage}-{acceptance}.json",
        acceptance=acceptance,
        stage=stage,
        is_ses=settings.is_ses,
        to=to,
        began_at=clock,
        due_at=next_due(clock, settle_lag=settings.generate.settle_lag),
    )


def check_ready(state: State, settings: AcceptanceSettings, stack_prefix: str) -> str:
    """Return the observed state of a stage that is ready, and store whether SES is in the sandbox.

    Raises NotPossible with all problems. The sandbox is not a problem, because the simulator works
    there.
    """
    findings = findings_of(state.stage, stack_prefix)
    problems = [
        f"{each.check}: {each.seen}. {each.todo}"
        for each in findings
        if each.level is Level.PROBLEM
    ]
    with refusals_of_tables(state.stage):
        sending = build_sending(settings.generate)
        problems += refusals(
            read_streams(context=sending),
            held_categories(context=sending),
            digests=len(state.readers),
            immediate=1,
        )
    if problems:
        raise NotPossible(
            "The acceptance does not begin, because the stage has problems. It is unchanged.",
            *map(printable, problems),
        )
    state.in_sandbox = any(
        each.check == _SANDBOX and each.level is Level.WARNING for each in findings
    )
    number = {level: sum(each.level is level for each in findings) for level in Level}
    where = "; SES is in the sandbox" if state.in_sandbox else ""
    return (
        f"no problem, {number[Level.WARNING]} warnings, {number[Level.UNSEEN]} checks not possible"
        f"{where}"
    )


def check_unsuppressed(state: State, context: AcceptanceContext) -> None:
    """Check that the address in `--to` is not suppressed, because the acceptance lifts its
    suppressions at the end. Raises NotPossible.
    """
    if not state.to:
        return
    with refusals_of_tables(state.stage):
        suppression = context.suppressions.get(address_hash(state.to))
    if suppression:
        raise NotPossible(
            f"{state.to} is suppressed ({suppression.cause}). Specify an address that no "
            "reader has."
        )
