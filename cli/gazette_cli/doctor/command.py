"""`gazette doctor`: check a stage, and list the worst findings first."""

import time
from collections.abc import Iterator
from typing import Annotated

import typer
from gazette.adapters.dynamodb.control.evidence import DynamoEvidenceLog
from gazette.adapters.mail.canary import SesCanary
from gazette.adapters.mail.ses import ses_client
from gazette.bootstrap.parts.clock import now
from gazette.domain.console.levels import Level
from gazette.settings.delivery import GenerateSettings
from gazette.settings.sweep import SweepSettings

from gazette_cdk.stacks.names import PREFIX
from gazette_cli.doctor.canary import check_canary
from gazette_cli.doctor.data_checks import check_data, check_templates
from gazette_cli.doctor.findings import Finding, marked, ok
from gazette_cli.doctor.mail_checks import check_mail, check_recipients
from gazette_cli.doctor.mail_facts import mail_facts
from gazette_cli.doctor.questions import local_endpoint, text_records
from gazette_cli.doctor.set_checks import check_sets
from gazette_cli.doctor.size_checks import check_sizes
from gazette_cli.doctor.stage_checks import check_stage
from gazette_cli.doctor.stage_facts import SWEEP_TICK, StageFacts, stage_facts
from gazette_cli.doctor.work_checks import check_work
from gazette_cli.doctor.work_facts import work_facts
from gazette_cli.shared.answers import Rows
from gazette_cli.shared.console import NOT_POSSIBLE, note
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.next_commands import aimed
from gazette_cli.sources.checking import check_source
from gazette_cli.templates.checks import check_deployment
from gazette_cli.version import check_version
from gazette_support.bootstrap.templates import build_templates

FOUND = 1
"""The exit status if there are problems, for use in pipelines."""

_COLUMNS = {
    "check": "check",
    "level": "level",
    "seen": "state",
    "todo": "what to do",
    "page": "page",
}


def doctor(
    stage: StageName = "prod",
    send: Annotated[
        bool,
        typer.Option(
            "--send",
            help="Also send an email to SES's mailbox simulator, and wait for the delivery event.",
        ),
    ] = False,
    stack_prefix: Annotated[
        str,
        typer.Option(
            metavar="PREFIX",
            help="The beginning of the names of the stacks (`stack_prefix` of the app).",
        ),
    ] = PREFIX,
) -> None:
    """Check the domain, SES, ticks, functions, tables, queues, templates and the recommendation
    service of a stage. This command changes nothing.

    Each finding describes the result of a check, and the recommended action. A missing permission
    is also a finding. A recommendation service gets one request, with the user id `gazette-doctor`,
    unless requests are stopped. If AWS_ENDPOINT_URL is on this computer, the findings state what an
    emulator cannot show, and the exit code is not 0.

    The exit code is 1 if there are problems, 2 if a check was not possible, and 0 otherwise.
    Warnings do not affect the exit code.
    """
    findings = findings_of(stage, stack_prefix, send=send)
    rows = [
        [each.check, each.level.value, each.seen, aimed(each.todo, stage=stage), each.page]
        for each in findings
    ]
    number = {level: sum(each.level is level for each in findings) for level in Level}
    Rows("findings", _COLUMNS, rows).show(
        problems=number[Level.PROBLEM],
        warnings=number[Level.WARNING],
        unseen=number[Level.UNSEEN],
    )
    if number[Level.PROBLEM]:
        raise typer.Exit(FOUND)
    if number[Level.UNSEEN]:
        raise typer.Exit(NOT_POSSIBLE)


def findings_of(stage: str, stack_prefix: str, *, send: bool = False) -> list[Finding]:
    """Check a stage, and return the findings, with the worst first. Raises NotPossible."""
    settings = settings_of(stage, "generate", GenerateSettings)
    sweep = settings_of(stage, "sweep", SweepSettings)
    findings = _findings(stage_facts(stage, stack_prefix), settings, sweep, send=send)
    endpoint = local_endpoint()
    return sorted(
        marked(findings, endpoint) if endpoint else findings,
        key=lambda each: each.level.rank,
    )


def _findings(
    facts: StageFacts, settings: GenerateSettings, sweep: SweepSettings, *, send: bool
) -> Iterator[Finding]:
    stage = facts.stage
    yield from check_version(stage)
    yield from check_stage(facts)
    yield from check_data(facts)
    templates = build_templates(settings)
    yield from check_templates(templates.versions, templates.bundles)
    yield from check_deployment(stage, templates)
    changed_at = facts.schedule_changed_at(SWEEP_TICK)
    yield from check_work(work_facts(stage, settings, sweep), schedule_changed_at=changed_at)
    yield from check_source(stage, settings)
    yield check_recipients(settings)
    if settings.mail_provider != "ses":
        yield from check_sizes(facts, settings, None)
        yield ok("ses", "not used, because the mail provider is an SMTP server")
        return
    yield from check_sets(facts)
    mail = mail_facts(settings, stage=stage, look_up=text_records)
    yield from check_sizes(facts, settings, mail.account)
    yield from check_mail(mail)
    if send:
        note("Sending an email to SES's mailbox simulator. This takes up to two minutes.")
        yield check_canary(
            SesCanary(
                ses_client(settings.send_timeout),
                sender=settings.sender,
                configuration_set=settings.configuration_set,
                installation=settings.installation,
            ),
            DynamoEvidenceLog(settings.control_table),
            clock=now,
            sleep=time.sleep,
        )
