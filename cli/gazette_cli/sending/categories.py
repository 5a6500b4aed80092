"""`gazette sending --category`: hold and resume categories."""

from datetime import datetime

from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.identity import CATEGORY_NAME
from gazette.domain.links import NEW_LINK
from gazette.domain.scheduling.instants import moment
from gazette.settings.feedback import FeedbackSettings

from gazette_cli.shared.answers import Document, confirm, tell
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import settings_of
from gazette_support.bootstrap.sending import build_category_resume
from gazette_support.steps.sending import SendingContext, hold_category

_TAKES_EFFECT = "The change takes effect within a minute."


def check_category(category: str) -> None:
    """Raise NotPossible if the name of a category is invalid. The category need not have events."""
    if category != NEW_LINK and not CATEGORY_NAME.fullmatch(category):
        raise NotPossible(
            f"--category {category!r} is not a valid category name. Use 1 to 32 characters of a-z, "
            "0-9 and _, and begin with a letter, such as comment."
        )


def row(held: CategoryHold) -> tuple[str, str]:
    """Return the name of a held category, and the time and reason of the hold."""
    how = "held manually" if held.by_hand else "held"
    return (
        f"category {held.category}",
        f"{how} since {moment(held.since)}: {printable(held.why)}",
    )


def held_document(held: CategoryHold) -> Document:
    """Return a held category as JSON output."""
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
    """Return the outcome of a stop or a resume as JSON output. `since` is the time of the earlier
    stop.
    """
    return {"category": category, "stopped": is_stopped, "changed": changed, "since": since}


def stop_category(
    category: str, reason: str, *, context: SendingContext, stage: str, yes: bool
) -> None:
    """Put a category on hold, after confirmation."""
    if not yes:
        confirm(
            f"Put category {category} of stage {stage} on hold until someone runs `gazette "
            f"sending resume --category {category} --stage {stage}`?"
        )
    if not hold_category(category, reason, context=context):
        sentence = f"category {category} of stage {stage} is already on hold"
        tell(sentence, **stopped(category=category, changed=False))
        return
    tell(
        f"category {category} of stage {stage} is on hold; its events wait until you resume it",
        **stopped(category=category),
    )
    note(f"{_TAKES_EFFECT} If the category has no events, nothing changes.")


def resume_category(category: str, *, stage: str) -> None:
    """Resume a category, and reset its counts of bounces and complaints."""
    resume = build_category_resume(settings_of(stage, "feedback", FeedbackSettings))
    if not resume(category):
        sentence = f"category {category} of stage {stage} was not on hold"
        tell(sentence, **stopped(False, category=category, changed=False))
        return
    tell(
        f"category {category} of stage {stage} is resumed, and its bounce and complaint counts are "
        "reset",
        **stopped(False, category=category),
    )
    note(
        f"{_TAKES_EFFECT} The next digest includes the waiting events. Immediate email is sent "
        "within 15 minutes."
    )
