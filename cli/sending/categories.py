"""`gazette sending --category`: the categories that are held, and how to hold and resume one."""

from datetime import datetime

from gazette.bootstrap.support.sending import build_category_resume
from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.identity import CATEGORY_NAME
from gazette.domain.links import NEW_LINK
from gazette.settings.feedback import FeedbackSettings
from gazette.steps.support.sending import SendingContext, hold_category

from cli.shared.answers import Document, confirm, moment, tell
from cli.shared.console import NotPossible, note, printable
from cli.shared.deployed import settings_of

_TAKES_EFFECT = "Takes effect within a minute."


def check_category(category: str) -> None:
    """Raises NotPossible for a malformed name. Does not check that events of it exist."""
    if category != NEW_LINK and not CATEGORY_NAME.fullmatch(category):
        raise NotPossible(
            f"--category {category!r} is not a category name, such as comment: use 1 to 32 of a-z, "
            "0-9 and _, beginning with a letter."
        )


def row(held: CategoryHold) -> tuple[str, str]:
    """Its name, and since when and why it is held."""
    how = "held by hand" if held.by_hand else "held"
    return (
        f"category {held.category}",
        f"{how} since {moment(held.since)}: {printable(held.why)}",
    )


def held_document(held: CategoryHold) -> Document:
    """The same for programs."""
    return {
        "category": held.category,
        "by_hand": held.by_hand,
        "since": held.since,
        "reason": held.why,
    }


def stopped(
    is_stopped: bool = True,
    *,
    category: str | None = None,
    changed: bool = True,
    since: datetime | None = None,
) -> Document:
    """What a stop or a resume did, for programs; `since`: since when it was stopped before."""
    return {"category": category, "stopped": is_stopped, "changed": changed, "since": since}


def stop_category(
    category: str, reason: str, *, context: SendingContext, stage: str, yes: bool
) -> None:
    """Hold one category, after confirmation."""
    if not yes:
        confirm(
            f"Send no events of category {category} in stage {stage} until somebody runs "
            f"`gazette sending resume --category {category} --stage {stage}`?"
        )
    if not hold_category(category, reason, context=context):
        sentence = f"category {category} of stage {stage} is already held: nothing was changed"
        tell(sentence, **stopped(category=category, changed=False))
        return
    tell(
        f"category {category} of stage {stage} is held: its events wait until you resume it",
        **stopped(category=category),
    )
    note(f"{_TAKES_EFFECT} If no events of this category exist, nothing changes.")


def resume_category(category: str, *, stage: str) -> None:
    """Send one category again, and reset its counts of bounces and complaints."""
    resume = build_category_resume(settings_of(stage, "feedback", FeedbackSettings))
    if not resume(category):
        sentence = f"category {category} of stage {stage} was not held"
        tell(sentence, **stopped(False, category=category, changed=False))
        return
    tell(
        f"category {category} of stage {stage} is sent again; its bounces and complaints are reset",
        **stopped(False, category=category),
    )
    note(
        f"{_TAKES_EFFECT} Waiting events go with the next digest; immediate email goes out within "
        "15 minutes."
    )
