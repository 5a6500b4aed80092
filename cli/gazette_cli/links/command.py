"""`gazette links`: list, rotate and retire the keys that sign the links in emails."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from gazette.domain.errors import InvalidKeys, Overtaken
from gazette.domain.ports.rendering import KeyStore
from gazette.settings.preferences import PreferencesSettings

from gazette_cli.shared.answers import Rows, Shown, Yes, confirm, tell
from gazette_cli.shared.aws_errors import refusals_in_words
from gazette_cli.shared.commands import Command, UnaskedChange
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_support.bootstrap.links import build_links, draw_key
from gazette_support.steps import link_keys

_KEPT_FOR_MAIL = "Unsubscribe links should work for at least 30 days after the email was sent."
"""The minimum lifetime of unsubscribe links under the CAN-SPAM Act of the United States.

https://www.ftc.gov/business-guidance/resources/can-spam-act-compliance-guide-business
"""

_LEAKED = (
    "Until the key is retired, anyone who has it can act for any reader. All links that the key "
    "signed stop working, including links in emails of the next minute. Affected readers can "
    "unsubscribe with a link in the next email, in the preferences of your product, or by "
    "contacting you."
)

_SIGNS = "signs and verifies"

links = typer.Typer(
    help="List, rotate and retire the keys that sign the links in emails.",
    no_args_is_help=True,
)


@links.command("list", cls=Command)
def show(stage: StageName = "prod") -> None:
    """List the ids of the keys, and mark the key that signs new links. The output never contains
    the keys themselves.
    """
    with _refusals(stage):
        keys = _store(stage).read()
    rows = [
        (each, Shown(each == keys.newest, _SIGNS if each == keys.newest else "verifies"))
        for each in keys.ids
    ]
    Rows("keys", {"key": "key", "signs": "use"}, rows).show()


@links.command("rotate", cls=UnaskedChange)
def rotate(
    stage: StageName = "prod",
) -> None:
    """Add a key that signs the links in new emails. Links in older emails keep working."""
    with _refusals(stage):
        keys = link_keys.rotate(store=_store(stage), draw_key=draw_key)
    tell(
        f"{keys.newest} signs the links of stage {stage} within a minute; existing links keep "
        "working",
        signs=keys.newest,
        retired=None,
        keys=keys.ids,
    )
    if older := keys.ids[:-1]:
        note(
            f"If {older[-1]} leaked or is too old, retire it with `gazette links retire "
            f"{older[-1]} --stage {stage}`. {_KEPT_FOR_MAIL}"
        )


@links.command("retire", cls=Command)
def retire(
    key_id: Annotated[
        str, typer.Argument(metavar="KEY", help="The id of the key, from the output of `list`.")
    ],
    stage: StageName = "prod",
    now: Annotated[
        bool,
        typer.Option(
            "--now",
            help=(
                "Retire the key even if it is the signing key, and replace it with a new key. "
                "Specify this option if the key leaked."
            ),
        ),
    ] = False,
    yes: Yes = False,
) -> None:
    """Remove a key. All links that the key signed stop working."""
    with _refusals(stage):
        store = _store(stage)
        link_keys.refuse_to_retire(key_id, store.read(), leaked=now)
        if not yes:
            note(f"This cannot be undone. {_LEAKED if now else _KEPT_FOR_MAIL}")
            confirm(
                f"Disable every link of stage {stage} that {key_id} signed, including unsubscribe "
                "links?"
            )
        remaining = link_keys.retire(key_id, store=store, draw_key=draw_key if now else None)
    tell(
        f"{key_id} of stage {stage} is retired; links that it signed stop working within a minute",
        retired=key_id,
        signs=remaining.newest,
        keys=remaining.ids,
    )
    note(f"Remaining keys: {', '.join(remaining.ids)}. {remaining.newest} is the signing key.")


@contextmanager
def _refusals(stage: str) -> Iterator[None]:
    try:
        with refusals_in_words(f"the link keys of stage {stage}", service="secretsmanager"):
            yield
    except (InvalidKeys, Overtaken) as err:
        raise NotPossible(printable(str(err))) from err


def _store(stage: str) -> KeyStore:
    return build_links(settings_of(stage, "preferences", PreferencesSettings))
