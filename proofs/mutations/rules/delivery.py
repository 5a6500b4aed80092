"""The rules by which a worker prepares, claims and sends an email."""

from typing import Final

from proofs.mutations.mutation import Mutation

_HEADS = "tests/unit/delivery/test_heads.py"
_CONTENT = "tests/unit/content/test_digests.py"
_MANY_LATE = "tests/unit/routing/test_many_late.py"
_NOT_ACKNOWLEDGED = (
    "tests/functions/test_acknowledging.py::test_message_is_not_acknowledged_if_its_commit_failed"
)

RULES: Final = (
    Mutation(
        "time left and deadline are checked right before the call",
        "steps/delivery/deliver.py",
        "        time_left() < limits.send_timeout + COMMIT_MARGIN\n"
        "        or run.deadline is None\n"
        "        or context.clock() + limits.send_timeout > run.deadline\n",
        "        not run.deadline\n",
        "tests/unit/delivery/test_deliver.py"
        "::test_trace_i_worker_without_time_after_claim_does_not_send",
    ),
    Mutation(
        "an event that may have been sent is not deferred",
        "steps/delivery/windows.py",
        " and stored.stored_at > self.possibly_sent_until:\n",
        ":\n",
        "tests/unit/delivery/test_category_hold.py"
        "::test_delivery_evidence_during_hold_prevents_duplicate_events",
    ),
    Mutation(
        "a run continues until all expired events are removed",
        "steps/delivery/prepare.py",
        "    if due.more_are_over:\n",
        "    if False:\n",
        "tests/unit/delivery/test_long_windows.py"
        "::test_many_expired_events_are_each_removed_and_counted_once",
    ),
    Mutation(
        "a run whose worker dies after a removal keeps the reason",
        "adapters/dynamodb/runs.py",
        "        actions=[RunRow.epoch.add(1), *why],\n",
        "        actions=[RunRow.epoch.add(1)],\n",
        "tests/contract/dynamodb/test_deferred_events.py"
        "::test_expired_events_are_removed_with_a_single_run_change",
    ),
    Mutation(
        "a run without events has the reason of those that a dead worker removed",
        "steps/delivery/windows.py",
        "    reasons = {run.removed}\n",
        "    reasons = {None}\n",
        "tests/unit/calendar/test_lifetime.py::test_crash_keeps_expired_reason_and_other_events",
    ),
    Mutation(
        "an event that left a long window after it was read is not shown",
        "steps/delivery/windows.py",
        " or stored.schedule != key.schedule or not window.holds(stored.stored_at):\n",
        ":\n",
        "tests/unit/delivery/test_long_windows.py"
        "::test_event_removed_while_reading_long_window_is_not_shown",
    ),
    Mutation(
        "if half of the events can be rendered, the faulty event is in the other half",
        "steps/delivery/edition.py",
        "    if why is None:\n        return\n    if len(events) == 1:\n",
        "    if why is None and len(events) == 1:\n        return\n"
        "    if why and len(events) == 1:\n",
        "tests/unit/delivery/test_edition.py::test_poison_event_is_found_by_binary_search",
    ),
    Mutation(
        "an immediate email with an event of a held category is not sent in part",
        "steps/delivery/prepare.py",
        "    if run.key.is_immediate:\n        again_at",
        "    if run.key.is_immediate and not due.sent:\n        again_at",
        "tests/unit/delivery/test_category_hold.py"
        "::test_immediate_email_with_held_events_waits_for_release",
    ),
    Mutation(
        "a run that takes over is stored before the other ends",
        "steps/delivery/deliver.py",
        "    if ending.starts:\n        run = context.runs.create(run)\n",
        "    if ending.starts:\n"
        "        store(ending.changes, runs=context.runs)\n"
        "        ending = replace(ending, changes=())\n"
        "        run = context.runs.create(run)\n",
        "tests/unit/routing/test_immediate.py"
        "::test_crash_while_starting_the_next_run_loses_no_events",
    ),
    Mutation(
        "a message is acknowledged only after its commit",
        "steps/delivery/deliver.py",
        "    finally:\n        record_outcome(outcome, run,",
        "    except Exception:\n"
        "        stored = run\n"
        "    finally:\n"
        "        record_outcome(outcome, run,",
        _NOT_ACKNOWLEDGED,
    ),
    Mutation(
        "no two readers share a thread",
        "steps/delivery/edition.py",
        '_message_id(f"{run.key.user_id} {thread_of(run.key.schedule)}", list_id)',
        "_message_id(run.key.schedule, list_id)",
        "tests/unit/delivery/test_headers.py::test_readers_entities_and_lists_never_share_a_thread",
    ),
    Mutation(
        "a run that a later run's head covers is superseded",
        "steps/delivery/predecessors.py",
        "    return is_behind_head(run, newer) or any(\n",
        "    return any(\n",
        f"{_HEADS}::test_run_before_head_is_superseded",
    ),
    Mutation(
        "a run uses the end of the sent windows from a newer run's head",
        "steps/delivery/predecessors.py",
        "max(settled_until((run, *ended)), known_sent_until(chain.newer))\n",
        "settled_until((run, *ended))\n",
        f"{_HEADS}::test_older_run_uses_head_of_newer_run",
    ),
    Mutation(
        "an event is not excluded if the deployed templates can render it",
        "steps/delivery/edition.py",
        "    if fallback:\n",
        "    if not versions:\n",
        "tests/unit/templates/test_runs.py"
        "::test_pushed_version_that_fails_is_replaced_by_deployed_templates",
    ),
    Mutation(
        "a run waits until the fetched items can be read",
        "steps/delivery/content.py",
        "            return () if readable_at < now else _waiting(run, readable_at + _ROUNDING)\n",
        "            return ()\n",
        f"{_CONTENT}::test_run_waits_until_fetched_items_are_readable",
    ),
    Mutation(
        "a run queries its content sources once",
        "steps/delivery/content.py",
        "None if run.asked_at else fetch)\n",
        "fetch)\n",
        f"{_CONTENT}::test_run_requests_each_source_once",
    ),
    Mutation(
        "a run with a fixed window does not wait for items",
        "steps/delivery/prepare.py",
        " or run.window is not None:\n        return run.without\n",
        ":\n        return run.without\n",
        f"{_CONTENT}::test_run_with_fixed_window_does_not_wait_for_items",
    ),
    Mutation(
        "a digest without a schedule does not wait for items",
        "steps/delivery/content.py",
        "        if schedule is None or not asked_among",
        "        if not asked_among",
        f"{_CONTENT}::test_digest_with_deleted_schedule_does_not_wait_for_items",
    ),
    Mutation(
        "a digest is sent without its items as soon as its patience ends",
        "steps/delivery/content.py",
        "_waiting(run, min(now + pause, until), ",
        "_waiting(run, now + pause, ",
        f"{_CONTENT}::test_run_stops_waiting_when_tolerance_ends",
    ),
    Mutation(
        "a digest does not wait for items that its reader does not want",
        "steps/delivery/content.py",
        "        if schedule is None or not asked_among(schedule.sources):\n",
        "        if schedule is None:\n",
        f"{_CONTENT}::test_waiting_digest_is_sent_after_reader_opts_out_of_items",
    ),
    Mutation(
        "a run without an occurrence does not wait for items",
        "steps/delivery/content.py",
        "        if not schedule.is_asked_for(run.due_at):\n",
        "        if False:\n",
        f"{_CONTENT}::test_redriven_digest_keeps_source_order_and_does_not_wait",
    ),
    Mutation(
        "a version that was rolled back is not used as a fallback",
        "steps/delivery/versions.py",
        "        if current < before or ",
        "        if ",
        "tests/unit/templates/test_runs.py::test_rolled_back_version_is_not_a_fallback",
    ),
    Mutation(
        "a process that missed changes does not fall back to its previous version",
        "steps/delivery/versions.py",
        " or (current != before and missed_some):\n",
        ":\n",
        "tests/unit/templates/test_sleeping.py"
        "::test_process_that_missed_a_rollback_does_not_fall_back",
    ),
    Mutation(
        "a run is claimed with the version that is in force at its claim",
        "steps/delivery/deliver.py",
        "        if chosen.templates.number != rendered.chosen.templates.number:\n",
        "        if False:\n",
        "tests/unit/templates/test_sleeping.py"
        "::test_run_is_claimed_with_the_version_in_force_at_its_claim",
    ),
    Mutation(
        "an email is not sent if a hold on its category begins before its permit",
        "steps/delivery/deliver.py",
        "    return not due.categories.isdisjoint(context.held_categories())\n",
        "    return False\n",
        "tests/unit/templates/test_sleeping.py"
        "::test_category_held_during_rendering_is_not_in_the_email",
    ),
    Mutation(
        "a run that would name too many events waits until its window is stable",
        "steps/delivery/prepare.py",
        "    if len(due.newest) > MOST_NEWEST:\n",
        "    if False:\n",
        f"{_MANY_LATE}::test_digest_with_too_many_recent_events_waits_for_pending_writes",
    ),
    Mutation(
        "a shortened window contains all events that its thread collects",
        "steps/delivery/prepare.py",
        "    if earlier.until >= max(collects_until, window.since, *carried):\n",
        "    if earlier.until >= window.since:\n",
        f"{_MANY_LATE}::test_digest_with_too_many_recent_events_waits_for_pending_writes",
    ),
    Mutation(
        "the urgent emails about an entity are in its thread",
        "steps/delivery/edition.py",
        "thread_of(run.key.schedule)",
        "run.key.schedule",
        "tests/unit/delivery/test_headers.py::test_urgent_email_is_in_the_thread_of_its_entity",
    ),
)
