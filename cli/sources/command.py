"""`gazette sources`: whether the recommendation service is asked; stop, resume, and arm readers."""

from collections import Counter
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.sources import build_arming, build_permits
from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PaceReading
from gazette.settings.content import ContentSettings
from gazette.steps.support.sources import Armed, arm_sources

from cli.dead_letters.sqs_queues import queues
from cli.shared.answers import Yes, confirm, facts, moment, tell
from cli.shared.aws_errors import refusals_of_tables
from cli.shared.commands import Command, UnaskedChange
from cli.shared.console import NotPossible, note, printable
from cli.shared.deployed import StageName, settings_of

sources = typer.Typer(
    help="Show whether the recommendation service is asked, stop and resume its requests, and give "
    "existing readers the content sources of the stage.",
    no_args_is_help=True,
)


@sources.command("status", cls=Command)
def status(stage: StageName = "prod") -> None:
    """Show whether the recommendation service is asked, at which rate, and how many fetches wait.

    While the circuit breaker is open: why, since when, and when the next request is tried.
    """
    settings = _settings(stage)
    with refusals_of_tables(stage):
        found = build_permits(settings).read(now())
    waiting, dead = (each.waiting() for each in queues(stage, "content", "content-dead"))
    breaker = found.breaker
    facts(
        {
            "state": _state(breaker),
            "reason": breaker.why if breaker else None,
            "since": breaker.since if breaker else None,
            "next_try_at": breaker.until if breaker and not breaker.by_hand else None,
            "per_second": found.rate,
            "at_most_per_second": found.full_rate,
            "requests_today": found.taken,
            "waiting": waiting,
            "dead_letters": dead,
        },
        _rows(found, waiting, dead),
    )
    if breaker and breaker.by_hand:
        note(f"`gazette sources resume --stage {stage}` resumes the requests at once.")


@sources.command("stop", cls=Command)
def stop(
    reason: Annotated[
        str, typer.Argument(metavar="REASON", help="Why; `gazette sources status` shows it.")
    ],
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Stop all requests to the recommendation service until somebody resumes them.

    Digests wait for their items as `recommendations_policy` says, and then go without them.
    """
    if not reason.strip():
        raise NotPossible("REASON is empty: say in a few words why you stop the requests.")
    settings = _settings(stage)
    if not yes:
        confirm(
            f"Stop all requests to the service of stage {stage} until somebody runs "
            f"`gazette sources resume --stage {stage}`?"
        )
    with refusals_of_tables(stage):
        build_permits(settings).open_by_hand(printable(reason.strip()), now())
    tell(
        f"requests to the service of stage {stage} are stopped until you resume them",
        stopped=True,
        changed=True,
        since=None,
    )
    note("Requests that are in progress are still answered.")


@sources.command("resume", cls=UnaskedChange)
def resume(stage: StageName = "prod") -> None:
    """Resume the requests, whether they were stopped by hand or automatically."""
    settings = _settings(stage)
    with refusals_of_tables(stage):
        permits = build_permits(settings)
        before = permits.read(now()).breaker
        if before:
            permits.close_by_hand()
    if before is None:
        text = f"requests to the service of stage {stage} were not stopped"
    else:
        since = moment(before.since)
        text = f"the service of stage {stage} is asked again; requests were stopped since {since}"
    tell(text, stopped=False, changed=before is not None, since=before.since if before else None)
    if before:
        note("The rate begins at recommendations_ramp_from, and doubles while there is work.")


@sources.command("arm", cls=Command)
def arm(
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Give the digests of existing readers the content sources of the stage.

    Run it after you have changed content_sources, or the default frequency of a source's category.
    Without it, each reader gets the change with their next profile. Reads every reader; safe to
    repeat. Without `--yes` it first counts the readers it would change, and asks.
    """
    settings = _settings(stage)
    with refusals_of_tables(stage):
        readers, context = build_arming(settings)
        if not yes:
            number = arm_sources(readers, context=context, dry_run=True)[Armed.ARMED]
            confirm(f"Change the content sources of {number:,} readers of stage {stage}?")
        done = arm_sources(readers, context=context)
    tell(_in_words(done), **{each.value: done[each] for each in Armed})
    if done[Armed.UNREADABLE]:
        note("Rows that cannot be read are in the metric `unreadable_rows`, once they are due.")
    if done[Armed.CHANGING]:
        raise NotPossible(
            f"The schedules of {done[Armed.CHANGING]:,} readers kept changing: run "
            f"`gazette sources arm --stage {stage}` again."
        )


def _in_words(done: Counter[Armed]) -> str:
    return (
        f"{done[Armed.ARMED]:,} readers have their content sources now, {done[Armed.RIGHT]:,} had "
        f"them; {done[Armed.INACTIVE]:,} get no digests, {done[Armed.UNREADABLE]:,} cannot be read"
    )


def _rows(found: PaceReading, waiting: int, dead: int) -> list[tuple[str, str]]:
    of = "" if found.rate == found.full_rate else f" of {found.full_rate:g}"
    rows = [("recommendations", _state(found.breaker))]
    if found.breaker:
        rows += [
            ("reason", found.breaker.why),
            ("since", moment(found.breaker.since)),
            ("next request", _next_try(found.breaker)),
        ]
    return [
        *rows,
        ("rate", f"at most {found.rate:g}{of} requests a second; {found.taken:,} today (UTC)"),
        ("fetches that wait", f"{waiting:,}"),
        ("dead letters", f"{dead:,}"),
    ]


def _state(breaker: OpenBreaker | None) -> str:
    if breaker is None:
        return "asked"
    return "stopped by hand" if breaker.by_hand else "stopped automatically"


def _next_try(breaker: OpenBreaker) -> str:
    if breaker.by_hand:
        return "none until you resume them"
    return f"one at {moment(breaker.until)} or later"


def _settings(stage: str) -> ContentSettings:
    try:
        return settings_of(stage, "content", ContentSettings)
    except NotPossible as err:
        raise NotPossible(
            f"{err} A stage has this function only if its content_sources name recommendations."
        ) from err
