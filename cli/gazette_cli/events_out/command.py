"""`gazette events-out`: publish events again, and tell the present state of a reader."""

from typing import Annotated

import typer
from gazette.bootstrap.outbox import publisher
from gazette.bootstrap.parts.clock import now
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.settings.outbox import OutboxSettings

from gazette_cli.shared.answers import tell as say_and_give
from gazette_cli.shared.aws_errors import refusals_in_words, refusals_of_tables
from gazette_cli.shared.commands import UnaskedChange
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_support.bootstrap.events_out import build_batches, build_bus, build_subscribers
from gazette_support.steps.events_out import republish as publish_batches
from gazette_support.steps.events_out import tell as publish_state

events_out = typer.Typer(
    help="Publish events about readers and emails again.", no_args_is_help=True
)


@events_out.command("republish", cls=UnaskedChange)
def republish(stage: StageName = "prod") -> None:
    """Publish the batches of changes that Lambda could not publish, and delete them from their
    bucket.

    Consumers recognise events that they already have by their ids. The exit code is 1 if a batch
    could not be published. It then remains in the bucket.
    """
    settings = _settings(stage)
    bucket = f"unpublished events of stage {stage}"
    with refusals_in_words(bucket, service="s3"):
        result = publish_batches(build_batches(settings), publish=publisher(settings))
    for error in result.unreadable:
        note(printable(error), style="red")
    for name, why in result.failed.items():
        note(f"{printable(name)} remains in the bucket: {printable(why)}", style="red")
    batches = "1 batch" if result.batches == 1 else f"{result.batches} batches"
    events = "1 event" if result.events == 1 else f"{result.events} events"
    say_and_give(
        f"{batches} of stage {stage} published, with {events}",
        batches=result.batches,
        events=result.events,
        failed=[*result.failed],
    )
    if result.failed:
        raise typer.Exit(1)


@events_out.command("tell", cls=UnaskedChange)
def tell(
    user: Annotated[
        str, typer.Argument(metavar="USER", help="The user id of the reader, as in your events.")
    ],
    stage: StageName = "prod",
) -> None:
    """Publish the status and all preferences of a reader, for consumers that have lost events."""
    settings = _settings(stage)
    with refusals_of_tables(stage):
        reader = build_subscribers(settings).get(user)
    if not isinstance(reader, Subscriber):
        raise NotPossible(
            f"{printable(user)} has no profile in stage {stage}, so there is no state to publish. "
            "Check the user id."
        )
    with refusals_in_words(f"the bus {settings.events_out_bus}", service="events"):
        types = publish_state(reader, types=settings.types, bus=build_bus(settings), at=now())
    if not types:
        raise NotPossible(
            f"Stage {stage} publishes no events about subscribers or preferences. Add their types "
            "to events_out, and deploy."
        )
    say_and_give(f"published {' and '.join(types)} for {printable(user)}", events=[*types])


def _settings(stage: str) -> OutboxSettings:
    return settings_of(stage, "outbox", OutboxSettings)
