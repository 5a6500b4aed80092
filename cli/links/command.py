"""`gazette links`: list, rotate and retire the keys that sign the links in emails."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from gazette.bootstrap.support.links import build_links, draw_key
from gazette.domain.errors import InvalidKeys, Overtaken
from gazette.domain.ports.rendering import KeyStore
from gazette.settings.preferences import PreferencesSettings
from gazette.steps.support import link_keys

from cli.shared.answers import Rows, Shown, Yes, confirm, tell
from cli.shared.aws_errors import refusals_in_words
from cli.shared.commands import Command, UnaskedChange
from cli.shared.console import NotPossible, note, printable
from cli.shared.deployed import StageName, settings_of

_KEPT_FOR_MAIL = (
    "An email should be able to unsubscribe its reader for at least 30 days after it was sent."
)
"""The law where many readers live.
https://www.ftc.gov/business-guidance/resources/can-spam-act-compliance-guide-business"""

_LEAKED = (
    "Whoever has the key can act for any reader until it is retired. Emails that it signed, also "
    "within the next minute, keep dead links: their readers can leave by the next email, by the "
    "preferences in your own product, or by writing to you."
)

_SIGNS = "signs and verifies"

links = typer.Typer(
    help="List, rotate and retire the keys that sign the links in emails.",
    no_args_is_help=True,
)


@links.command("list", cls=Command)
def show(stage: StageName = "prod") -> None:
    """List the ids of the keys, and which one signs. Never shows a key."""
    with _refusals(stage):
        keys = _store(stage).read()
    rows = [
        (each, Shown(each == keys.newest, _SIGNS if each == keys.newest else "verifies"))
        for each in keys.ids
    ]
    Rows("keys", {"key": "key", "signs": "what it does"}, rows).show()


@links.command("rotate", cls=UnaskedChange)
def rotate(
    stage: StageName = "prod",
) -> None:
    """Add a key, which signs from now on. Links in older emails keep working."""
    with _refusals(stage):
        keys = link_keys.rotate(store=_store(stage), draw_key=draw_key)
    tell(
        f"{keys.newest} signs the links of stage {stage} within a minute; all others work on",
        signs=keys.newest,
        retired=None,
        keys=keys.ids,
    )
    if older := keys.ids[:-1]:
        note(
            f"Where {older[-1]} leaked, or is too old: `gazette links retire {older[-1]} "
            f"--stage {stage}` ends it. {_KEPT_FOR_MAIL}"
        )


@links.command("retire", cls=Command)
def retire(
    key_id: Annotated[str, typer.Argument(metavar="KEY", help="Its id, as `list` shows it.")],
    stage: StageName = "prod",
    now: Annotated[
        bool,
        typer.Option(
            "--now", help="The key leaked: retire it even if it signs; a new one takes over."
        ),
    ] = False,
    yes: Yes = False,
) -> None:
    """Remove a key: links signed with it stop working, in all emails."""
    with _refusals(stage):
        store = _store(stage)
        link_keys.refuse_to_retire(key_id, store.read(), leaked=now)
        if not yes:
            note(f"This cannot be undone. {_LEAKED if now else _KEPT_FOR_MAIL}")
            confirm(
                f"End every link that {key_id} signed, also those to unsubscribe, in all emails "
                f"of stage {stage} that are older than the key after it?"
            )
        left = link_keys.retire(key_id, store=store, draw_key=draw_key if now else None)
    tell(
        f"{key_id} of stage {stage} is retired: links signed with it stop within a minute",
        retired=key_id,
        signs=left.newest,
        keys=left.ids,
    )
    note(f"Left: {', '.join(left.ids)}; {left.newest} signs.")


@contextmanager
def _refusals(stage: str) -> Iterator[None]:
    try:
        with refusals_in_words(f"the links' key of stage {stage}", service="secretsmanager"):
            yield
    except (InvalidKeys, Overtaken) as err:
        raise NotPossible(printable(str(err))) from err


def _store(stage: str) -> KeyStore:
    return build_links(settings_of(stage, "preferences", PreferencesSettings))
