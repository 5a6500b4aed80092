"""The brakes of categories, for `gazette brake`: what they say, pull one, release one."""

import re

import typer
from gazette.bootstrap.support import BrakeDesk, build_release
from gazette.domain.feedback.reputation import CategoryBrake
from gazette.settings import FeedbackSettings

from cli.shared.console import NotPossible, note, printable, say
from cli.shared.deployed import settings_of
from cli.shared.formatting import moment

_CATEGORY = re.compile(r"[a-z][a-z0-9_]{0,31}")

_SOON = "Workers look once a minute: until then some go by what was before."


def refuse_what_is_no_category(category: str) -> None:
    """Raises NotPossible. Whether any event is of it is not known here."""
    if not _CATEGORY.fullmatch(category):
        raise NotPossible(
            f"{category!r} is no category, such as comment: 1 to 32 of a-z, 0-9 and _, and it "
            "begins with a letter."
        )


def row(found: CategoryBrake) -> tuple[str, str]:
    """A name and a value."""
    how = "braked by hand" if found.by_hand else "braked"
    return (
        f"category {found.category}",
        f"{how} since {moment(found.since)}: {printable(found.why)}",
    )


def pull_category(desk: BrakeDesk, category: str, reason: str, *, stage: str, yes: bool) -> None:
    """Stop one category, after a yes."""
    if not yes:
        typer.confirm(
            f"Send nothing of {category} in stage {stage} until somebody runs "
            f"`gazette brake release --category {category} --stage {stage}`?",
            abort=True,
        )
    if not desk.pull_category(category, reason):
        say(f"category {category} of stage {stage} is braked already, and stays as it is")
        return
    say(f"category {category} of stage {stage} is braked: it waits until it is released")
    note(f"{_SOON} If no event is of that category, nothing changes.")


def release_category(category: str, *, stage: str) -> None:
    """Let one category go, and begin anew to count what readers have against it."""
    release = build_release(settings_of(stage, "feedback", FeedbackSettings))
    if not release(category):
        say(f"category {category} of stage {stage} was not braked")
        return
    say(f"category {category} of stage {stage} is released, and counted anew from now on")
    note(
        f"{_SOON} What waited comes with the next digest, and at once within a quarter of an hour."
    )
