"""The rules by which an event finds its schedule and its run."""

from typing import Final

from proofs.mutations.mutation import Mutation

_ACTORS = "tests/unit/ingest/test_amended_actors.py"
_CRITICAL = "tests/unit/routing/test_critical.py"
_LONG = "tests/unit/ingest/test_long_messages.py"
_IMMEDIATE = "tests/unit/routing/test_immediate.py"
_GROWING = "tests/unit/routing/test_growing.py"
_WAITS = "domain/scheduling/growing.py"
_ARRIVES = (
    "tests/unit/calendar/test_lifetime.py"
    "::test_event_that_arrives_during_a_change_lasts_until_its_digest"
)
_HEADS = "tests/unit/delivery/test_heads.py"

RULES: Final = (
    Mutation(
        "messages whose events are routed together fail independently",
        "steps/routing/route.py",
        "        if len(parts) == 1:\n",
        "        if True:\n",
        "tests/unit/ingest/test_together.py::test_failure_for_single_reader_retries_only_affected_message",
    ),
    Mutation(
        "a retraction raises the epoch of the open runs",
        "steps/routing/reroute.py",
        "    if name:\n        raise_epochs_under(name, user_id, context=context)\n    return",
        "    return",
        "tests/unit/ingest/test_retracting.py"
        "::test_retraction_during_delivery_precedes_claim_or_is_too_late",
    ),
    Mutation(
        "an amendment makes claims on an older read fail",
        "steps/routing/route.py",
        "            raise_epochs_under(existing.schedule, event.user_id, context=context)\n"
        "            current = _restamp_if_late(replace(existing, event=event), context=context)\n",
        "            current = replace(existing, event=event)\n",
        "tests/unit/ingest/test_retracting.py::test_amendment_before_claim_is_included_in_email",
    ),
    Mutation(
        "an event that arrives during a pause lasts until the digest after the pause",
        "steps/routing/route.py",
        "            tokens.context.events.extend(stored, until)\n",
        "            pass\n",
        _ARRIVES,
    ),
    Mutation(
        "an event of a happening that arrives during a pause lasts until the digest after it",
        "steps/routing/happening.py",
        "            if stored:\n                extend_row(",
        "            if False:\n                extend_row(",
        _ARRIVES,
    ),
    Mutation(
        "the events of a late follow last until the digest after a pause",
        "steps/routing/catch_up.py",
        "        extend_together(placements, context=self.context, time=self.time)\n",
        "",
        _ARRIVES,
    ),
    Mutation(
        "new days of a digest are noticed by an event that arrives at the same time",
        "steps/routing/target.py",
        '"status", "times", "pause"',
        '"status", "pause"',
        _ARRIVES,
    ),
    Mutation(
        "the profile is read again after a late follow is processed",
        "steps/routing/catch_up.py",
        "        if not changed:\n",
        "        if True:\n",
        f"{_LONG}::test_choice_during_late_follow_moves_all_events",
    ),
    Mutation(
        "a schedule is armed for the events of a late follow",
        "steps/routing/catch_up.py",
        "        arm(waits_in, context=self.context)\n",
        "",
        f"{_LONG}::test_late_follow_adds_4000_activities_in_single_receive",
    ),
    Mutation(
        "moving several events checks the conditions of both schedules",
        "steps/routing/together.py",
        "            guard += arriving_guard()\n",
        "            guard = arriving_guard()\n",
        f"{_LONG}::test_moving_events_together_invalidates_runs_that_read_them",
    ),
    Mutation(
        "after a failed transaction, its events are moved one at a time",
        "steps/routing/together.py",
        "            one_by_one(stored)\n    return stay\n",
        "            pass\n    return stay\n",
        f"{_LONG}::test_events_move_individually_if_transaction_fails",
    ),
    Mutation(
        "processing of a list stops before its invocation times out",
        "steps/routing/route.py",
        "        require_time(time_left, least=PIECE if entry.list.is_begun else LONGEST)\n",
        "        if not entry.list.is_begun:\n            require_time(time_left)\n",
        f"{_LONG}::test_list_processing_stops_before_invocation_ends",
    ),
    Mutation(
        "a thread's run is queued before an event moves to the thread",
        "steps/routing/move.py",
        "        if collecting_at:\n            queue_run(started, context=context)\n",
        "",
        "tests/unit/routing/test_route.py::"
        "test_interrupted_preference_change_is_complete_after_redelivery",
    ),
    Mutation(
        "a copy of an amended event is amended unless it is withdrawn",
        "steps/routing/route.py",
        "        if not is_amended or context.events.amend(current, event):\n",
        "        if current:\n",
        f"{_ACTORS}::test_possibly_sent_copy_is_updated_by_amendment",
    ),
    Mutation(
        "a new link is sent immediately, whatever the reader chose",
        "steps/routing/target.py",
        "            if event.category == NEW_LINK:\n",
        "            if False:\n",
        "tests/unit/preferences/test_new_link.py"
        "::test_new_link_is_emailed_immediately_to_stored_address",
    ),
    Mutation(
        "a critical event reaches a reader who unsubscribed",
        "steps/routing/target.py",
        "            if reader.has_left and not (critical and _may_go_to(reader, context)):\n",
        "            if reader.has_left:\n",
        f"{_CRITICAL}::test_critical_event_is_sent_immediately_and_once_despite_all_choices",
    ),
    Mutation(
        "a critical event for a suppressed address starts no run",
        "steps/routing/target.py",
        " (critical and _may_go_to(reader, context)):\n",
        " critical:\n",
        f"{_CRITICAL}::test_each_event_for_a_suppressed_address_has_the_same_cost",
    ),
    Mutation(
        "critical events are stored for readers who have unsubscribed",
        "steps/routing/target.py",
        "holds(address_hash(reader.email), critical=True)\n",
        "holds(address_hash(reader.email))\n",
        f"{_CRITICAL}::test_critical_event_is_sent_immediately_and_once_despite_all_choices",
    ),
    Mutation(
        "an event joins the newest run of its thread if many wait",
        "steps/routing/immediate.py",
        "    if not _is_full(chain):\n",
        "    if chain is not None:\n",
        f"{_IMMEDIATE}::test_thread_with_late_messages_has_few_waiting_runs",
    ),
    Mutation(
        "an event does not join a run that was claimed before",
        "steps/routing/immediate.py",
        "if run.is_unclaimed and not run.attempt]\n",
        "if run.is_unclaimed]\n",
        f"{_IMMEDIATE}::test_event_does_not_join_a_claimed_run",
    ),
    Mutation(
        "an event that joins a run raises the run's epoch",
        "steps/routing/immediate.py",
        "        changed(newest, Stop()),\n",
        "        newest,\n",
        f"{_IMMEDIATE}::test_worker_cannot_claim_a_run_read_before_an_event_joined",
    ),
    Mutation(
        "a run that an event joins collects for another window",
        "steps/routing/immediate.py",
        "        due_at=until,\n",
        "",
        f"{_IMMEDIATE}::test_worker_cannot_claim_a_run_read_before_an_event_joined",
    ),
    Mutation(
        "runs of two workers collect until the same time",
        _WAITS,
        "end + WAITS[",
        "at + WAITS[",
        f"{_GROWING}::test_two_workers_that_do_not_see_each_other_collect_until_the_same_time",
    ),
    Mutation(
        "a run does not wait after an email that ended later than its event",
        _WAITS,
        " and end < at]",
        "]",
        f"{_GROWING}::test_later_email_does_not_count",
    ),
    Mutation(
        "the sweep looks at a run that collects for long before it is due",
        "steps/routing/immediate.py",
        "        return due_at + context.limits.hold - LOOK_AHEAD\n",
        "        return due_at + context.limits.hold + context.limits.check_after\n",
        f"{_GROWING}::test_worker_that_dies_before_the_message_delays_no_email",
    ),
    Mutation(
        "the sweep queues a run for the end of its collecting",
        "steps/sweep/sweep.py",
        "QueuedRun(run.key, min(_sent_at(run) - now, LONGEST_DELAY))",
        "QueuedRun(run.key, _SPREAD)",
        f"{_GROWING}::test_long_run_is_sent_as_soon_as_it_has_collected",
    ),
    Mutation(
        "a run that collects for long has no message",
        "steps/routing/immediate.py",
        "        if not run.is_queued_by_sweep\n",
        "",
        f"{_GROWING}::test_events_of_a_long_run_send_no_messages",
    ),
    Mutation(
        "the time until the next email grows",
        _WAITS,
        "WAITS[min(step, len(WAITS) - 1)]",
        "WAITS[0]",
        f"{_GROWING}::test_ten_comments_ten_minutes_apart_are_four_emails",
    ),
    Mutation(
        "quiet resets the wait",
        _WAITS,
        "    if at - end > QUIET:\n",
        "    if at < end:\n",
        f"{_GROWING}::test_wait_after_quiet_of_an_hour_is_ten_minutes_again",
    ),
    Mutation(
        "an email that was never sent delays no other email",
        _WAITS,
        "    if not is_counted:\n",
        "    if is_counted is None:\n",
        f"{_GROWING}::test_email_that_was_never_sent_does_not_count",
    ),
    Mutation(
        "critical email does not wait after other emails",
        _WAITS,
        "    if not collecting_grows(schedule):\n",
        "    if not schedule:\n",
        f"{_GROWING}::test_critical_email_does_not_wait_for_longer",
    ),
    Mutation(
        "an event that lapses soon does not wait after other emails",
        "steps/routing/target.py",
        "        case Frequency.IMMEDIATE if lapses_soon(event, context.clock()):\n",
        "        case Frequency.IMMEDIATE if event.user_id == lapses_soon:\n",
        f"{_GROWING}::test_event_that_lapses_within_a_long_wait_is_sent_at_once",
    ),
    Mutation(
        "an event stays in its thread although it lapses soon",
        "steps/routing/target.py",
        " or is_same_thread(schedule, self.schedule)\n",
        "\n",
        f"{_GROWING}::test_event_does_not_leave_its_run_because_it_lapses_soon",
    ),
    Mutation(
        "no run is created with a sequence before the newest",
        "steps/routing/immediate.py",
        "    if not chain or chain[0].key.sequence < new.key.sequence:\n",
        "    if chain is not None:\n",
        f"{_HEADS}::test_duplicate_of_old_event_creates_run_after_newest",
    ),
    Mutation(
        "an event stores a head with the run that it starts",
        "steps/routing/immediate.py",
        "replace(new, head=head_for(chain, context.clock()))",
        "new",
        f"{_HEADS}::test_thread_event_stores_head_with_its_run",
    ),
    Mutation(
        "a thread whose runs only supersede each other collects for longer",
        "steps/routing/immediate.py",
        "    if _is_stopped(chain):\n",
        "    if False:\n",
        f"{_HEADS}::test_events_read_few_runs_while_stream_is_stopped",
    ),
    Mutation(
        "no email combines critical and other events",
        "steps/routing/target.py",
        "            return Target(critical_schedule(event.entity.key))\n",
        "            return Target(immediate_schedule(event.entity.key))\n",
        f"{_CRITICAL}::test_every_history_sends_each_critical_event_in_a_separate_email",
    ),
    Mutation(
        "a follow from before an erasure is not stored with later follows",
        "steps/routing/follows.py",
        "        if current and _is_from_before_an_erasure(command, current, context):\n"
        "            return current\n",
        "",
        "tests/unit/ingest/test_activities.py"
        "::test_follow_dated_before_erasure_does_not_change_later_follow",
    ),
)
