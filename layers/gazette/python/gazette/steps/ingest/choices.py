"""Process readers' choices, which are stored separately from the service's choices."""

from dataclasses import replace

from gazette.domain.commands import ChoosePreferences
from gazette.domain.muting.mutes import changed
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.subscribers.choices import NO_CHOICES
from gazette.domain.subscribers.subscriber import EarlyChoices, Erased, Subscriber
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.ingest.profiles import is_still, latest_of, reroute_waiting
from gazette.steps.subscribers.schedules import set_schedules
from gazette.steps.subscribers.sunset import mark_active
from gazette.steps.time_budget import unlimited


def choose_preferences(
    command: ChoosePreferences, *, context: RoutingContext, time_left: TimeLeft = unlimited
) -> Outcome:
    """Store a reader's choice and apply it. Safe to repeat, in any order.

    Works like `change_subscriber`, and also counts as activity. A choice that arrives before the
    profile waits for the profile. Mutes are stored with the choice; the result is TOO_MANY_MUTED if
    some of them were refused, and everything else was applied. Raises NotYet if the profile keeps
    changing, or `time_left` is too short to route the waiting events.
    """
    for _ in ATTEMPTS:
        current = context.subscribers.get(command.user_id)
        erased_at = current.erased_at if current else None
        if isinstance(current, Erased) or (erased_at and command.at <= erased_at):
            return Outcome.ERASED
        if current is None:
            if outcome := _keep_early(command, context):
                context.subscribers.mark_active(command.user_id, command.at.date())
                return outcome
            continue
        after = changed(current.mutes, command.mutes)
        merged = _chosen(current, command).with_mutes(after.mutes, context.clock())
        if merged != current and not context.subscribers.put(merged, replacing=current):
            continue
        set_schedules(merged, context=context)
        reroute_waiting(merged, context, time_left=time_left)
        if is_still(merged, context):
            mark_active(command.user_id, command.at, context=context)
            return Outcome.TOO_MANY_MUTED if after.refused else Outcome.CHANGED
    raise kept_changing(f"The profile of {command.user_id}")


def _keep_early(command: ChoosePreferences, context: RoutingContext) -> Outcome | None:
    """Store a choice that arrived before the profile. Returns None if the row has changed."""
    early = context.subscribers.early(command.user_id)
    chosen = (early.reader_choices if early else NO_CHOICES).with_choice(command.at, command.choice)
    after = changed(early.mutes if early else (), command.mutes)
    choices = EarlyChoices(command.user_id, chosen, after.mutes)
    if choices != early and not context.subscribers.put_early(choices, replacing=early):
        return None
    return Outcome.TOO_MANY_MUTED if after.refused else Outcome.CHANGED


def _chosen(current: Subscriber, command: ChoosePreferences) -> Subscriber:
    """Return the profile `current` with the reader's choice applied, or unchanged if nothing
    changes.
    """
    chosen = current.reader_choices.with_choice(command.at, command.choice)
    merged = replace(current, paused_last=latest_of(current.paused_last, chosen.paused_last))
    merged = merged.with_choices(current.service_choices, chosen)
    return merged if merged == current else replace(merged, revision=current.revision + 1)
