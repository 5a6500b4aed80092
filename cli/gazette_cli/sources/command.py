"""`gazette sources`: try a recommendation service, and show, stop and resume requests to it."""

from collections import Counter
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

import typer
from gazette.adapters.aws.dead_letters.queues import queues
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.errors import InvalidKeys
from gazette.domain.links import has_host
from gazette.domain.scheduling.instants import moment
from gazette.settings.content import ContentSettings

from gazette_cli.shared.answers import Yes, confirm, facts, tell
from gazette_cli.shared.aws_errors import refusals_in_words, refusals_of_tables
from gazette_cli.shared.commands import Command, UnaskedChange
from gazette_cli.shared.completion import known_stages
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.sources.trial import document, rows
from gazette_support.bootstrap.sources import Target, build_arming, build_permits, build_trial
from gazette_support.steps.sources import Armed, arm_sources


class Digest(StrEnum):
    """The frequencies of digests that have content sources."""

    DAILY = "daily"
    WEEKLY = "weekly"
    CUSTOM = "custom"


sources = typer.Typer(
    help=(
        "Try a recommendation service, show, stop and resume requests to it, and apply the "
        "stage's content sources to existing readers."
    ),
    no_args_is_help=True,
)


@sources.command("status", cls=Command)
def status(stage: StageName = "prod") -> None:
    """Show the state and rate of requests to the recommendation service, and the number of waiting
    fetches.

    While requests are stopped, the output also shows the reason, the start time, and the time of
    the next attempt.
    """
    settings = _settings(stage)
    with refusals_of_tables(stage):
        reading = build_permits(settings).read(now())
    waiting, dead = (each.waiting() for each in queues(stage, "content", "content-dead"))
    breaker = reading.breaker
    facts(
        {
            "state": _state(breaker),
            "reason": breaker.why if breaker else None,
            "since": breaker.since if breaker else None,
            "next_try_at": breaker.until if breaker and not breaker.by_hand else None,
            "per_second": reading.rate,
            "at_most_per_second": reading.full_rate,
            "requests_today": reading.taken,
            "waiting": waiting,
            "dead_letters": dead,
        },
        _rows(reading, waiting, dead),
    )
    if breaker and breaker.by_hand:
        note(f"To resume the requests, run `gazette sources resume --stage {stage}`.")


@sources.command("stop", cls=Command)
def stop(
    reason: Annotated[
        str,
        typer.Argument(
            metavar="REASON", help="The reason for the stop, shown by `gazette sources status`."
        ),
    ],
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Stop all requests to the recommendation service until someone resumes them.

    Digests wait for items for as long as `recommendations_policy` allows, and are then sent without
    items.
    """
    if not reason.strip():
        raise NotPossible("REASON is empty. Describe in a few words why you stop the requests.")
    settings = _settings(stage)
    if not yes:
        confirm(
            f"Stop all requests to the service of stage {stage} until someone runs "
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
    note("Requests in progress will complete.")


@sources.command("resume", cls=UnaskedChange)
def resume(stage: StageName = "prod") -> None:
    """Resume requests after a manual or automatic stop."""
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
        text = f"requests to the service of stage {stage} are resumed; they were stopped at {since}"
    tell(text, stopped=False, changed=before is not None, since=before.since if before else None)
    if before:
        note("The rate starts at recommendations_ramp_from, and doubles while fetches are waiting.")


@sources.command("arm", cls=Command)
def arm(
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Apply the stage's content sources to the digests of existing readers.

    Run this command after you change content_sources or the default frequency of a source's
    category. Otherwise, the change applies to each reader only when their next profile is
    published. The command reads every reader, and is safe to repeat. Without `--yes`, the command
    counts the affected readers and asks for confirmation.
    """
    settings = _settings(stage)
    with refusals_of_tables(stage):
        readers, context = build_arming(settings)
        if not yes:
            number = arm_sources(readers, context=context, dry_run=True)[Armed.ARMED]
            confirm(f"Change the content sources of {number:,} readers of stage {stage}?")
        counts = arm_sources(readers, context=context)
    tell(_in_words(counts), **{each.value: counts[each] for each in Armed})
    if counts[Armed.UNREADABLE]:
        note("The `unreadable_rows` metric counts these rows once they are due.")
    if counts[Armed.CHANGING]:
        raise NotPossible(
            f"The schedules of {counts[Armed.CHANGING]:,} readers changed repeatedly and were "
            f"not updated. Run `gazette sources arm --stage {stage}` again."
        )


@sources.command("try", cls=Command)
def try_once(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="The endpoint of the service. With `--stage`, the default is the endpoint of the "
            "stage.",
        ),
    ] = "",
    stage: Annotated[
        str,
        typer.Option(
            "--stage",
            help="Use the timeout, the number of items, the token and the permitted hosts of this "
            "stage. Without it, the command needs no AWS account.",
            autocompletion=known_stages,
        ),
    ] = "",
    user: Annotated[
        str, typer.Option("--user", metavar="USER", help="The user id in the request.")
    ] = "gazette-try",
    digest: Annotated[
        Digest, typer.Option("--digest", help="The frequency of the digest in the request.")
    ] = Digest.DAILY,
) -> None:
    """Send one request to a recommendation service, and show what a digest would contain. The exit
    code is 1 if the service is not usable.

    The request, the time limit and the checks are those of the content function. Each item that
    Gazette would leave out is listed with the field and the remedy. The command changes no data,
    and the request does not count towards the rate of the stage. The token of a stage is sent only
    to the host in `recommendations_url`.
    """
    target = _target(url, stage)
    with refusals_in_words("the token of the service", service="secretsmanager"):
        try:
            trial = build_trial(target)(user, digest.value)
        except InvalidKeys as err:
            raise NotPossible(str(err)) from err
    facts(document(target.url, trial), rows(target.url, trial))
    if stage and url and not target.secret:
        note("The request had no token. The token of a stage is sent only to its own service.")
    if trial.problem:
        raise typer.Exit(1)


def _is_allowed(url: str) -> bool:
    """Return True if `recommendations_url` may be this URL."""
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in {"localhost", "127.0.0.1", "::1"}
    is_clean = url.isascii() and url.isprintable() and " " not in url
    return is_clean and has_host(url) and (is_local or parts.scheme == "https")


def _target(url: str, stage: str) -> Target:
    if url and not _is_allowed(url):
        raise NotPossible(f"{url} is not an https URL. On loopback, http is also allowed.")
    if stage:
        return Target.of(_settings(stage), url)
    if not url:
        raise NotPossible("Specify the URL of the service, or a stage with --stage.")
    return Target(url=url)


def _in_words(counts: Counter[Armed]) -> str:
    return (
        f"{counts[Armed.ARMED]:,} readers updated, {counts[Armed.RIGHT]:,} already up to date, "
        f"{counts[Armed.INACTIVE]:,} without digests, {counts[Armed.UNREADABLE]:,} unreadable"
    )


def _rows(reading: PaceReading, waiting: int, dead: int) -> list[tuple[str, str]]:
    of = "" if reading.rate == reading.full_rate else f" of {reading.full_rate:g}"
    rows = [("recommendations", _state(reading.breaker))]
    if reading.breaker:
        rows += [
            ("reason", reading.breaker.why),
            ("since", moment(reading.breaker.since)),
            ("next request", _next_try(reading.breaker)),
        ]
    return [
        *rows,
        (
            "rate",
            f"at most {reading.rate:g}{of} requests per second; {reading.taken:,} today (UTC)",
        ),
        ("waiting fetches", f"{waiting:,}"),
        ("dead letters", f"{dead:,}"),
    ]


def _state(breaker: OpenBreaker | None) -> str:
    if breaker is None:
        return "active"
    return "stopped manually" if breaker.by_hand else "stopped automatically"


def _next_try(breaker: OpenBreaker) -> str:
    if breaker.by_hand:
        return "none until you resume requests"
    return f"a test request at {moment(breaker.until)} or later"


def _settings(stage: str) -> ContentSettings:
    try:
        return settings_of(stage, "content", ContentSettings)
    except NotPossible as err:
        raise NotPossible(
            f"{err} A stage has this function only if content_sources contains recommendations."
        ) from err
