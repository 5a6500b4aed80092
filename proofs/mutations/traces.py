"""The rules that prevent the traces in docs/protocol.md, and how to remove each rule."""

from itertools import groupby
from typing import Final

from proofs.mutations.mutation import Mutation

_CHOICES = "tests/unit/routing/test_choices_at_delivery.py"
_SEEN = "tests/unit/delivery/test_seen.py"

TRACES: Final = {
    "a": "A run is claimed while the previous run is still being sent or has an unknown outcome. "
    "The same events are sent twice, under every policy.",
    "b": "Evidence for the previous run arrives between the write that closes that run and the "
    "claim of its successor.",
    "c": "The first claim fixes the start of the window (`since`), and the provider refuses the "
    "attempt. Evidence for the previous run then arrives, and the next attempt sends the "
    "previous run's events again.",
    "d": "Evidence arrives for a run that is already retrying, failed or cancelled. A second "
    "email is sent.",
    "e": "After `resend`, the second attempt also has an unknown outcome, and the retries never "
    "end.",
    "f": "The message of a pending run becomes a dead letter, and the run is lost.",
    "g": "The response to a claim is lost. The worker does not recognise its own claim and does "
    "not send the email.",
    "h": "The claim fixes the end of the window (`until`). Events that are stored between the "
    "read of the window and the claim are never sent.",
    "i": "A worker stalls past its deadline and then sends the email.",
    "j": "Fan-out queues no message because the row of the run already exists. Or a change of "
    "preferences leaves a row without a message.",
    "k": "A schedule advances into the current slot, and is never found again.",
    "l": "An event with an earlier timestamp becomes visible after the window was read.",
    "m": "A producer publishes an event again after a change of preferences, and a second row is "
    "stored.",
    "n": "An event moves into a window that its new schedule has already closed. Or the event "
    "leaves a run that has an unknown outcome or is just starting. Or an outdated preference "
    "determines where the event waits.",
    "o": "A stop is acknowledged between the worker's check for stops and the claim.",
    "p": "A date has two digests or none. Or a cancelled run blocks the digest at the new hour "
    "of the same day.",
    "q": "An event that no template can render stops its email. Or an open circuit breaker turns "
    "the messages of a queue into dead letters. Or an immediate message is never queued.",
    "r": "A run carries an older run with an unknown outcome. The outcomes of the run and of its "
    "successor are also unknown. Copies of the events accumulate until a transaction is too "
    "large, and the reader gets no more email.",
    "t": "Evidence for an unclaimed run marks the run as sent, without a window. The chain of "
    "runs ends there, and the next digest repeats every stored event.",
    "z": "Because a DNS record of the sender is wrong, every reader in the batch is suppressed.",
    "s": "Refused immediate emails use up every probe of a circuit breaker that they share with "
    "digests. Digests are sent too late.",
    "u": "A row that is unreadable or has a value of a newer version blocks all rows after it.",
    "v": "A monthly digest that exceeds the daily cap is skipped, like a daily digest, until its "
    "events expire. The run reports that no event waited. Or events expire during a pause. Or an "
    "email shows a lapsed event. Or a window closes and omits an event whose `expires_at` was "
    "extended.",
    "y": "A reader is erased and returns before the due index is updated. A sequence number is "
    "used twice, and an occurrence is lost. Or two readers share an address, and a complaint of "
    "one reader does not raise the epochs of the other reader's runs. Or an event is excluded "
    "without a check of its run.",
    "w": "A hundred runs of one thread wait, and muted events cannot be removed from them. The "
    'page says "saved", and an email that is claimed afterwards shows a muted event.',
    "x": "The settle lag relies on the time-out of a request. A worker stalls between taking a "
    "timestamp and writing the event, which is then stored in a closed window and never sent.",
    "aa": "A run that exhausted its attempts is redriven, but no email is sent. Or two workers, "
    "a crash and fan-out start the run twice.",
    "ab": "A worker stalls between storing an event and its immediate run. The run of the "
    "thread's next event sends both events, and then the run with the earlier sequence sends "
    "both again.",
    "ac": "Fan-out finds no event up to the end of a window and removes the schedule from the "
    "due index. An event that was stored a moment ago then waits forever. Or events that can no "
    "longer be sent start an empty run at every occurrence.",
    "ad": "An event is stored or moved while fan-out removes its schedule from the due index. "
    "The event is never sent.",
    "ae": "An entry of the due index becomes visible in a slot that ticks no longer read. The "
    "schedule of this entry is never found.",
    "af": "Another worker changes a schedule while fan-out processes it, and ticks no longer "
    "read the slot of the schedule. The schedule is never found again.",
    "ag": "A worker dies, or its message becomes a dead letter, after an event is stored or "
    "moved and before the schedule is armed. The event is never sent.",
    "ah": "One fan-out worker removes a schedule, and another worker starts a run for an event "
    "that has moved in the meantime. The event is sent twice. Or a date has two digests or none, "
    "because its schedule became idle.",
    "ai": "A reader becomes dormant and returns at the moment when an event arrives. The reader's "
    "schedule is missing from the due index.",
    "aj": "Fan-out does not visit an inactive reader, so the `dormant` status is never stored. "
    "After 300 days of inactivity, a mention is sent at once.",
    "ak": "A reader opens the preference page, turns off a category from an email, and then "
    "saves the page with a different hour. Saving the page turns the category on again.",
    "al": "A reader mutes a category. Then an app publishes a choice for a different category, "
    "or a profile changes a different category. The mute is lost.",
    "am": "A reader unsubscribes, undoes the unsubscribe, and unsubscribes again. The first undo "
    "is then repeated, and the reader gets email. The same can happen with a category, a follow, "
    "and a resubscription on an older page.",
    "an": "A worker reads the events of a thread, and then the reader visits the entity. The email "
    "shows what the reader has seen. Or one worker leaves out a seen event, and a worker that read "
    "the event before the visit claims it. Or an event is amended after its run ended as `seen`, "
    "and no run sends it.",
}
"""Failures that earlier versions of the rules allowed, by letter."""

_WINDOW = "    window = window_of(run, settled.since,"
_LOCAL_DATE = (
    "int(schedule.next_due_at.astimezone("
    '__import__("zoneinfo").ZoneInfo(schedule.recurrence.time_zone)'
    ').strftime("%Y%m%d"))'
)

PREVENTED: Final = (
    Mutation(
        "a run waits for an older run that may have been sent",
        "steps/delivery/predecessors.py",
        "            return current\n",
        "            continue\n",
        "tests/unit/delivery/test_predecessors.py::test_trace_a_run_waits_while_predecessor_outcome_is_unknown",
        "a",
    ),
    Mutation(
        "a run is claimed in the transaction that closes its predecessor",
        "steps/runs.py",
        "                return claimed if runs.swap_together(pairs) else None\n",
        "                for before, after in reversed(pairs):\n"
        "                    runs.swap(before, after)\n"
        "                return claimed\n",
        "tests/unit/delivery/test_predecessors.py"
        "::test_trace_b_evidence_between_read_and_claim_fails_the_claim",
        "b",
    ),
    Mutation(
        "each attempt recomputes `since`",
        "steps/delivery/predecessors.py",
        "        return Window(since, run.window.until)\n",
        "        return run.window\n",
        "tests/unit/delivery/test_predecessors.py"
        "::test_trace_c_window_is_recomputed_at_each_attempt",
        "c",
    ),
    Mutation(
        "evidence moves a run from any status to sent",
        "domain/delivery/lifecycle.py",
        "    if run.status is Status.SENT:\n",
        "    if run.status not in {Status.SENDING, Status.UNKNOWN}:\n",
        "tests/unit/feedback/test_feedback.py"
        "::test_trace_d_every_delivery_event_proves_acceptance_in_any_status",
        "d",
    ),
    Mutation(
        "the `resend` policy applies to a run only once",
        "domain/delivery/lifecycle.py",
        "        case Policy.RESEND if not run.resent:\n",
        "        case Policy.RESEND if True:\n",
        "tests/unit/sweep/test_sweep.py::test_trace_e_second_unknown_outcome_after_resend_is_given_up",
        "e",
    ),
    Mutation(
        "the sweep queues pending runs again",
        "steps/sweep/sweep.py",
        "            return [_queue_again(run, context.generate_queue, context)]\n",
        "            return [Swept.LEFT_ALONE]\n",
        "tests/unit/sweep/test_sweep.py"
        "::test_trace_f_pending_run_without_a_message_is_queued_again",
        "f",
    ),
    Mutation(
        "a worker recognises its own claim by the nonce",
        "steps/runs.py",
        "            return stored if stored.is_claimed_like(claimed) else None\n",
        "            return stored if not attempt and stored.is_claimed_like(claimed) else None\n",
        "tests/unit/delivery/test_deliver.py::test_trace_g_claim_is_retried_after_lost_response",
        "g",
    ),
    Mutation(
        "a window ends before its events are read",
        "steps/delivery/deliver.py",
        "        prepared.window,\n",
        "            replace(\n"
        "                prepared.window, until=context.clock() - context.limits.settle_lag\n"
        "            ),\n",
        "tests/unit/delivery/test_deliver.py"
        "::test_trace_h_event_stored_between_read_and_claim_is_in_next_digest",
        "h",
    ),
    Mutation(
        "the deadline is checked right before the call",
        "steps/delivery/deliver.py",
        "        or context.clock() + limits.send_timeout > run.deadline\n",
        "",
        "tests/unit/delivery/test_deliver.py"
        "::test_trace_i_worker_stalled_past_deadline_does_not_send",
        "i",
    ),
    Mutation(
        "a message is queued for a run that already exists",
        "steps/occurrences/start.py",
        "    return Started(occurrence, context.runs.create(run), until, waits=waits)\n",
        "    found = context.runs.create(run)\n"
        "    gone = replace(found, status=Status.SKIPPED)\n"
        "    return Started(occurrence, run if found is run else gone, until, waits=waits)\n",
        "tests/unit/fanout/test_fanout.py::test_trace_j_retry_queues_run_stored_before_crash",
        "j",
    ),
    Mutation(
        "a schedule advances after its message is queued",
        "steps/fanout/fanout.py",
        "        self._queue(started)\n"
        "        for each in started:\n"
        "            with self._left_behind(each.occurrence.schedule):\n"
        "                after.append(self._advance(each))\n",
        "        for each in started:\n"
        "            with self._left_behind(each.occurrence.schedule):\n"
        "                after.append(self._advance(each))\n"
        "        self._queue(started)\n",
        "tests/unit/fanout/test_fanout.py::test_trace_j_retry_queues_run_stored_before_crash",
        "j",
    ),
    Mutation(
        "a change of the digest hour uses up a sequence",
        "steps/subscribers/schedules.py",
        "            sequence=given_up.sequence + (next_due_at != given_up.next_due_at),\n",
        "            sequence=given_up.sequence,\n",
        "tests/unit/fanout/test_fanout.py::test_trace_j_hour_change_during_fan_out_loses_no_digest",
        "j",
    ),
    Mutation(
        "fan-out advances a schedule past missed occurrences and past the current slot",
        "steps/fanout/fanout.py",
        "        return [schedule for schedule in after if schedule and self._is_due(schedule)]\n",
        "        return []\n",
        "tests/unit/fanout/test_fanout.py::test_trace_k_schedule_never_advances_into_current_slot",
        "k",
    ),
    Mutation(
        "a new schedule is due after the current slot",
        "domain/model.py",
        "        after = last_instant_of_slot(now)\n",
        "        after = now\n",
        "tests/unit/subscribers/test_schedules.py::test_trace_k_open_slot_is_never_chosen",
        "k",
    ),
    Mutation(
        "a window ends a settle lag before now",
        "steps/delivery/prepare.py",
        f"{_WINDOW} until=context.clock() - context.limits.settle_lag)\n",
        f"{_WINDOW} until=context.clock())\n",
        "tests/unit/delivery/test_deliver.py"
        "::test_trace_l_event_within_read_lag_waits_for_next_digest",
        "l",
    ),
    Mutation(
        "each attempt to write an event takes a new timestamp",
        "adapters/dynamodb/events.py",
        "put_or_current(event_row(stored, self._writes), absent(now), repeat=False)\n",
        "put_or_current(event_row(stored, self._writes), absent(now))\n",
        "tests/contract/dynamodb/test_events.py"
        "::test_trace_l_write_retried_after_a_transaction_conflict_has_a_new_timestamp",
        "l",
    ),
    Mutation(
        "windows are read with strong consistency",
        "adapters/dynamodb/events.py",
        "        consistent_read=True,\n        page_size=page_size,\n",
        "        page_size=page_size,\n",
        "tests/contract/dynamodb/test_windows.py"
        "::test_trace_l_window_is_read_strongly_consistently_from_a_local_index",
        "l",
    ),
    Mutation(
        "the producer's id is the key of an event, whatever its schedule",
        "adapters/dynamodb/events.py",
        "        event_id=stored.event.id,\n",
        '        event_id=f"{stored.schedule}#{stored.event.id}",\n',
        "tests/contract/dynamodb/test_windows.py::test_trace_m_event_id_is_unique_across_schedules",
        "m",
    ),
    Mutation(
        "a moved event takes a new timestamp",
        "adapters/dynamodb/events.py",
        "        actions = _moving(stored, schedule, now, until)\n",
        "        actions = _moving(stored, schedule, stored.stored_at, until)\n",
        "tests/contract/dynamodb/test_windows.py::test_trace_n_moved_event_is_in_the_window_of_its_move",
        "n",
    ),
    Mutation(
        "an event that may have been sent is not moved",
        "domain/delivery/run.py",
        "            if run.window and (run.status not in _NOT_SENT or run.uncertain)\n",
        "            if run.window and run.status in {Status.SENT, Status.SENDING}\n",
        "tests/unit/routing/test_route.py::test_trace_n_event_does_not_move_out_of_an_unknown_run",
        "n",
    ),
    Mutation(
        "the transaction of a move includes the runs of the new schedule",
        "steps/routing/move.py",
        "        guard = out + guard_to_arrive(user_id, name, context)\n",
        "        guard = out\n",
        "tests/unit/routing/test_move.py::test_trace_n_late_move_is_not_behind_a_closed_window",
        "n",
    ),
    Mutation(
        "a move raises the revisions of both schedules",
        "adapters/dynamodb/schedules.py",
        "        actions=[ScheduleRow.revision.add(1)],\n",
        "        actions=[ScheduleRow.revision.add(0)],\n",
        "tests/contract/dynamodb/test_leaving.py"
        "::test_trace_n_fan_out_with_an_outdated_schedule_cannot_advance",
        "n",
    ),
    Mutation(
        "a move to a schedule includes the run of a digest that is being prepared",
        "steps/routing/move.py",
        "        not_started=(RunKey(user_id, name, sequence),),\n",
        "        not_started=(RunKey(user_id, name, sequence),) if schedule else (),\n",
        "tests/unit/routing/test_move.py::test_trace_n_move_to_a_digest_in_creation_is_not_skipped",
        "n",
    ),
    Mutation(
        "a move checks the state of a run that is claimed while other runs are superseded",
        "steps/routing/move.py",
        " for run in cancelled if run.status is Status.CANCELLED}\n",
        " for run in cancelled}\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_n_run_claimed_during_superseding_keeps_its_events",
        "n",
    ),
    Mutation(
        "a thread that an event leaves has an open run afterwards",
        "steps/routing/move.py",
        "        if waiting and (collecting_at is None or",
        "        if chain and (collecting_at is None or",
        "tests/unit/routing/test_move.py"
        "::test_trace_n_event_moved_from_an_ended_thread_is_not_redriven",
        "n",
    ),
    Mutation(
        "the profile is read again after an event is written",
        "steps/routing/route.py",
        "        if not all_inputs:\n",
        "        if True:\n",
        "tests/unit/routing/test_route.py::test_trace_n_event_is_not_stored_under_a_stale_preference",
        "n",
    ),
    Mutation(
        "an event that was stored before a choice is rerouted when its run is prepared",
        "steps/delivery/deliver.py",
        "    if outdated and context.route_again(key, outdated, time_left):\n",
        "    if outdated is prepared:\n",
        f"{_CHOICES}::test_trace_n_event_muted_in_a_thread_is_withdrawn_at_preparation",
        "n",
    ),
    Mutation(
        "an event is also rerouted if its writer may have read the old choices",
        "steps/delivery/prepare.py",
        "    until = min(window.until, routes_since + OUTDATED_FOR)\n",
        "    until = min(window.until, routes_since)\n",
        f"{_CHOICES}::test_trace_n_event_stored_by_a_stalled_writer_after_muting_is_not_sent",
        "n",
    ),
    Mutation(
        "a change of a follow is marked before it is acknowledged",
        "steps/ingest/activities.py",
        "        context.subscribers.mark_rerouted(user_id, context.clock())\n        reroute(",
        "        reroute(",
        f"{_CHOICES}::test_trace_n_event_muted_in_a_thread_is_withdrawn_at_preparation",
        "n",
    ),
    Mutation(
        "a move from a run to a digest arms the digest's schedule first",
        "steps/routing/reroute.py",
        "        arm(_digests_of(elsewhere), context=context)\n",
        "",
        f"{_CHOICES}::test_trace_n_event_moved_to_a_digest_is_sent_after_any_crash",
        "n",
    ),
    Mutation(
        "a worker checks the reader between the claim and the call",
        "steps/delivery/deliver.py",
        "    if not _is_as_prepared(reader, prepared_for):\n",
        "    if reader is mail:\n",
        "tests/unit/subscribers/test_unsubscribe.py"
        "::test_trace_o_worker_between_claim_and_last_look_sees_every_stop",
        "o",
    ),
    Mutation(
        "the last look detects that a follow has changed",
        "domain/subscribers/subscriber.py",
        "        return self.is_unchanged_since(read) and self.routes_since == read.routes_since\n",
        "        return self.is_unchanged_since(read)\n",
        f"{_CHOICES}::test_trace_n_event_muted_before_the_last_look_is_not_sent",
        "n",
    ),
    Mutation(
        "cancelling a batch cancels its runs",
        "cli/gazette_support/steps/batches.py",
        "        for run in readable(runs.of_batch(slot))\n",
        "        for run in list(readable(runs.of_batch(slot)))[:0]\n",
        "tests/unit/support/test_batches.py"
        "::test_trace_o_email_is_not_claimed_after_an_acknowledged_cancel",
        "o",
    ),
    Mutation(
        "runs are numbered, not dated",
        "steps/occurrences/start.py",
        "    run = Run(\n        key=RunKey(schedule.user_id, schedule.name, schedule.sequence),\n",
        f"    run = Run(\n        key=RunKey(schedule.user_id, schedule.name, {_LOCAL_DATE}),\n",
        "tests/unit/subscribers/test_reschedule.py"
        "::test_trace_p_date_repeated_by_a_time_zone_change_has_a_second_digest",
        "p",
    ),
    Mutation(
        "a date that does not exist is skipped",
        "domain/scheduling/calendar.py",
        "    if midnight.astimezone(zone).date() != day:\n        return None\n",
        "",
        "tests/unit/calendar/test_calendar.py::test_trace_p_nonexistent_date_is_skipped",
        "p",
    ),
    Mutation(
        "the date of a run that was given up counts as a date without a digest",
        "steps/subscribers/reschedule.py",
        "    return replace(schedule, last_due_at=max(started, default=None))\n",
        "    return schedule if list(started) else schedule\n",
        "tests/unit/subscribers/test_reschedule.py"
        "::test_trace_p_overdue_unclaimed_run_is_sent_at_the_new_hour",
        "p",
    ),
    Mutation(
        "an event that no template can render is excluded",
        "steps/delivery/edition.py",
        "        since = deferred_events.exclude(\n"
        "            event, run, str(why), for_good=event.id in may_have_been_sent\n"
        "        )\n",
        "        raise RenderingFailed(str(why)) from why\n",
        "tests/unit/delivery/test_edition.py"
        "::test_trace_q_poison_event_is_excluded_and_other_events_are_sent",
        "q",
    ),
    Mutation(
        "a run that the circuit breaker stops gets a new message",
        "steps/delivery/generate.py",
        "        queue.send([QueuedRun(done.run.key, min(delay, LONGEST_DELAY))])\n",
        '        raise TimeoutError(f"{delay}: {min(delay, LONGEST_DELAY)}")\n',
        "tests/unit/pacing/test_circuit_breaker_runs.py"
        "::test_trace_q_digest_is_requeued_while_breaker_is_open",
        "q",
    ),
    Mutation(
        "an immediate run is queued even if its event was already stored",
        "steps/routing/route.py",
        "    return outcome, _place_stored(current, target, inputs, tokens)\n",
        "    settled = _place_stored(current, target, inputs, tokens)\n"
        "    return outcome, settled if stored else None\n",
        "tests/unit/routing/test_immediate.py"
        "::test_trace_q_redelivered_event_queues_its_open_run_again",
        "q",
    ),
    Mutation(
        "an event that was in two attempts with an unknown outcome is not in a third attempt",
        "steps/delivery/predecessors.py",
        "    since = max(settled_until((run, *ended)), ",
        "    from gazette.domain.delivery.run import sent_until\n"
        "\n"
        "    since = max(sent_until((run, *ended)), ",
        "tests/unit/delivery/test_copies.py::test_trace_r_event_is_in_at_most_two_digests",
        "r",
    ),
    Mutation(
        "a run without remaining events has no successor",
        "steps/sweep/unknown.py",
        "    if _is_carried(decided) and _leaves_nothing(run, older):\n",
        "    if _is_carried(decided) and not _leaves_nothing(run, older):\n",
        "tests/unit/delivery/test_copies.py::test_trace_r_immediate_event_is_sent_at_most_twice",
        "r",
    ),
    Mutation(
        "an event that may have been sent is excluded for good",
        "steps/delivery/edition.py",
        "for_good=event.id in may_have_been_sent",
        "for_good=event.id in may_have_been_sent and not may_have_been_sent",
        "tests/unit/delivery/test_copies.py"
        "::test_trace_r_unrenderable_event_is_in_at_most_two_emails",
        "r",
    ),
    Mutation(
        "an expired or lapsed event that may have been sent is given up",
        "steps/delivery/deliver.py",
        "partial(deferred.expire, for_good=may_have_been_sent)",
        "partial(deferred.expire, for_good=())",
        "tests/unit/delivery/test_copies.py"
        "::test_trace_r_event_expiring_between_attempts_is_sent_at_most_twice",
        "r",
    ),
    Mutation(
        "removing an expired or lapsed event raises its run's epoch in the same transaction",
        "adapters/dynamodb/deferred_events.py",
        "                raise_epoch(run, writes)\n                for event, place",
        "                for event, place",
        "tests/contract/dynamodb/test_deferred_events.py"
        "::test_trace_r_event_claimed_by_another_worker_is_not_expired",
        "r",
    ),
    Mutation(
        "evidence counts only for an attempt that is stored in the run's row",
        "domain/delivery/lifecycle.py",
        "    if not run.knows(signal.attempt):\n",
        "    if not signal:\n",
        "tests/unit/delivery/test_lifecycle.py"
        "::test_trace_t_evidence_of_unclaimed_attempt_is_ignored",
        "t",
    ),
    Mutation(
        "a delivery event of an unclaimed attempt is stored with its reason",
        "steps/feedback/feedback.py",
        "    if run and not run.knows(event.attempt):\n",
        "    if run and not run:\n",
        "tests/unit/feedback/test_unknown_attempts.py"
        "::test_trace_t_delivery_event_of_unclaimed_run_causes_no_duplicate",
        "t",
    ),
    Mutation(
        "a bounce for a policy reason does not suppress the address",
        "adapters/mail/ses_faults.py",
        "        if by_policy:\n            fault = Fault.OF_MESSAGE\n",
        "",
        "tests/unit/feedback/test_policy_refusals.py"
        "::test_trace_z_wrong_sender_dns_record_suppresses_no_address",
        "z",
    ),
    Mutation(
        "each stream has its own circuit breaker",
        "domain/delivery/streams.py",
        "        return self.immediate if kind_of(schedule) is ScheduleKind.IMMEDIATE "
        "else self.digest\n",
        "        return self.digest\n",
        "tests/unit/pacing/test_circuit_breaker_runs.py::test_trace_s_immediate_email_rejections_do_not_delay_digests",
        "s",
    ),
    Mutation(
        "a refusal of one stream does not stop the other stream",
        "steps/delivery/pacing.py",
        "        if outcome.every_stream:\n",
        "        if True:\n",
        "tests/unit/pacing/test_circuit_breaker_runs.py"
        "::test_trace_s_stream_rejection_does_not_stop_other_stream",
        "s",
    ),
    Mutation(
        "a refusal of the account stops every stream",
        "steps/delivery/pacing.py",
        "        if outcome.every_stream:\n",
        "        if outcome.every_stream and not outcome.every_stream:\n",
        "tests/unit/pacing/test_circuit_breaker_runs.py"
        "::test_trace_s_account_rejection_stops_both_streams",
        "s",
    ),
    Mutation(
        "a refusal in one stream does not extend the open breaker of the other stream",
        "steps/delivery/pacing.py",
        ".breaker.trip_if_closed(outcome.detail, now)\n",
        ".breaker.trip(outcome.detail, now)\n",
        "tests/unit/pacing/test_circuit_breaker_runs.py"
        "::test_trace_s_open_breaker_of_other_stream_is_unchanged",
        "s",
    ),
    Mutation(
        "a value of a newer version is read as unknown",
        "domain/stored.py",
        "        unknown = str.__new__(kind, text)\n",
        "        return next(iter(kind))\n",
        "tests/contract/dynamodb/test_newer_rows.py"
        "::test_trace_u_row_of_a_newer_version_is_recognised_and_kept",
        "u",
    ),
    Mutation(
        "fan-out continues past rows that it cannot read",
        "steps/fanout/fanout.py",
        "        except UnreadableRow as unreadable:\n"
        "            self.behind.leave(slot_of(schedule.next_due_at), unreadable)\n",
        "        except ZeroDivisionError:\n            self.behind.rows.clear()\n",
        "tests/unit/ingest/test_unreadable.py"
        "::test_trace_u_unreadable_run_delays_only_its_schedule",
        "u",
    ),
    Mutation(
        "each tick reads slots with unreadable rows again",
        "steps/fanout/fanout.py",
        "            self.batches.leave_behind(self.shard, slot)\n",
        "            pass\n",
        "tests/unit/ingest/test_unreadable.py::test_trace_u_skipped_schedule_resumes_once_readable",
        "u",
    ),
    Mutation(
        "the sweep continues past rows that it cannot read",
        "steps/sweep/sweep.py",
        "            results.append((run, Swept.UNREADABLE))\n            continue\n",
        "            raise run\n",
        "tests/unit/ingest/test_unreadable.py::test_trace_u_sweep_skips_unreadable_runs",
        "u",
    ),
    Mutation(
        "a run waits if its window has an event that cannot be read",
        "adapters/dynamodb/events.py",
        "                stored = decoded(row, event_or_trace_in)\n",
        "                try:\n"
        "                    stored = decoded(row, event_or_trace_in)\n"
        "                except UnreadableRow:\n"
        "                    continue\n",
        "tests/contract/dynamodb/test_newer_rows.py"
        "::test_trace_u_unreadable_event_is_never_omitted_from_its_window",
        "u",
    ),
    Mutation(
        "a digest that is less frequent than daily waits for the next day",
        "steps/delivery/pacing.py",
        "    if why is NoPermit.DAILY_CAP and run.key.schedule == DAILY:\n",
        "    if why is NoPermit.DAILY_CAP and not run.key.is_immediate:\n",
        "tests/unit/calendar/test_lifetime.py"
        "::test_trace_v_infrequent_digest_over_daily_cap_is_sent_next_day",
        "v",
    ),
    Mutation(
        "only a daily digest is skipped if it waited too long in a queue",
        "domain/delivery/run.py",
        "        is_daily = self.key.schedule == DAILY\n",
        '        is_daily = self.key.schedule != "custom"\n',
        "tests/unit/calendar/test_lifetime.py"
        "::test_trace_v_infrequent_digest_over_daily_cap_is_sent_next_day",
        "v",
    ),
    Mutation(
        "a run that has only expired events is skipped with the reason `expired`",
        "steps/delivery/windows.py",
        "            reasons.add(Reason.EXPIRED)\n",
        "            reasons.add(Reason.EMPTY)\n",
        "tests/unit/calendar/test_lifetime.py"
        "::test_trace_v_expired_unsent_event_is_counted_once_as_reason",
        "v",
    ),
    Mutation(
        "an event that lapses before the claim is omitted",
        "steps/delivery/deliver.py",
        "    if due.has_lapsed(context.clock()):\n",
        "    if False:\n",
        "tests/unit/delivery/test_lapsing.py"
        "::test_trace_v_event_expiring_during_permit_wait_is_omitted",
        "v",
    ),
    Mutation(
        "an event whose `expires_at` was extended does not count as lapsed",
        "adapters/dynamodb/deferred_events.py",
        "            is_over |= EventRow.body == body_of(stored.event)\n",
        "            is_over |= EventRow.body.exists()\n",
        "tests/contract/dynamodb/test_deferred_events.py"
        "::test_trace_v_lapsed_event_given_more_time_is_not_expired",
        "v",
    ),
    Mutation(
        "an event can be sent until the second occurrence from now",
        "domain/scheduling/lifetime.py",
        "next_occurrence(recurrence, after=next_occurrence(recurrence, after=now)) + MARGIN",
        "now + MARGIN",
        "tests/unit/calendar/test_lifetime.py::test_trace_v_later_pause_does_not_lose_waiting_events",
        "v",
    ),
    Mutation(
        "a pause extends the lifetime of events that are already stored",
        "steps/routing/reroute.py",
        "        extend_together(deliverable, context=context, time=time)\n",
        "",
        "tests/unit/calendar/test_lifetime.py::test_trace_v_later_pause_does_not_lose_waiting_events",
        "v",
    ),
    Mutation(
        "an event counts as expired only if its stored lifetime has ended",
        "adapters/dynamodb/deferred_events.py",
        "        over: Condition = in_place_with_bodies(stored) & is_over\n",
        "        over: Condition = in_place_with_bodies(stored)\n",
        "tests/contract/dynamodb/test_deferred_events.py::test_trace_v_extended_event_is_not_counted_as_expired",
        "v",
    ),
    Mutation(
        "a sequence whose run belongs to a different occurrence is skipped",
        "steps/fanout/fanout.py",
        "    if started.is_taken:\n",
        "    if started.is_taken and not started:\n",
        "tests/unit/routing/test_sequences.py"
        "::test_trace_y_sequence_taken_by_another_run_counts_for_no_date",
        "y",
    ),
    Mutation(
        "the suppression of the address is checked after the claim",
        "steps/delivery/deliver.py",
        "    if is_suppressed:\n",
        "    if is_suppressed is None:\n",
        "tests/unit/subscribers/test_suppress.py"
        "::test_trace_y_complaint_stops_email_to_every_reader_of_the_address",
        "y",
    ),
    Mutation(
        "excluding an event raises the epoch of its run in the same transaction",
        "adapters/dynamodb/deferred_events.py",
        "            with transaction(self._rows) as writes:\n"
        "                raise_epoch(run, writes)\n",
        "            with transaction(self._rows) as writes:\n",
        "tests/contract/dynamodb/test_deferred_events.py"
        "::test_trace_y_event_claimed_by_another_worker_is_not_excluded",
        "y",
    ),
    Mutation(
        "before an event leaves a thread with many open runs, all but the newest are superseded",
        "steps/routing/move.py",
        "    if len(unclaimed) <= _FEW:\n",
        "    if unclaimed is not None:\n",
        "tests/unit/routing/test_many_at_once.py"
        "::test_trace_w_event_can_be_withdrawn_despite_many_waiting_runs",
        "w",
    ),
    Mutation(
        'the page moves waiting events before it says "saved"',
        "steps/ingest/profiles.py",
        "    if subscriber.routed_for == choices:\n",
        "    if subscriber.routed_for == choices or time_left is not unlimited:\n",
        "tests/unit/preferences/test_page.py"
        "::test_trace_w_saved_change_applies_to_every_later_claim",
        "w",
    ),
    Mutation(
        'the page stores the time of a changed follow before it says "saved"',
        "steps/preferences/page.py",
        "        context.subscribers.mark_rerouted(user_id, context.clock())\n",
        "        pass\n",
        "tests/unit/preferences/test_page.py"
        "::test_trace_w_saved_change_applies_to_every_later_claim",
        "w",
    ),
    Mutation(
        'the page does not say "saved" if it has not finished the change',
        "steps/preferences/page.py",
        "        return Notice.UNSURE\n",
        "        return Notice.SAVED\n",
        "tests/unit/preferences/test_page.py::test_trace_w_interrupted_save_is_completed_by_ingest",
        "w",
    ),
    Mutation(
        "an event that was written too late for its window gets a new timestamp",
        "steps/routing/late_writes.py",
        "        if not any(run.has_passed_over(stored.event.id, stored.stored_at)"
        " for run in chain):\n",
        "        if chain or not chain:\n",
        "tests/unit/routing/test_late_writes.py::test_trace_x_late_write_is_in_the_next_window",
        "x",
    ),
    Mutation(
        "a redelivered message also checks the old timestamp",
        "steps/routing/route.py",
        "    current = _restamp_if_late(existing, context=context)\n",
        "    current = _restamp_if_late(existing, context=context) if stored else existing\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_redelivery_restamps_the_event_of_a_dead_worker",
        "x",
    ),
    Mutation(
        "the timestamps of the events that a late follow adds are checked",
        "steps/routing/catch_up.py",
        "            current = restamp_together(some, context=self.context)\n",
        "            current = list(some)\n"
        "            restamp_together([], context=self.context)\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_late_writes_of_a_follow_are_restamped_together",
        "x",
    ),
    Mutation(
        "an amendment also checks the timestamp of its event",
        "steps/routing/route.py",
        "            current = _restamp_if_late(replace(existing, event=event), context=context)\n",
        "            current = replace(existing, event=event)\n",
        "tests/unit/routing/test_late_writes.py::test_trace_x_amendment_restamps_a_late_event",
        "x",
    ),
    Mutation(
        "an event that was in the email keeps its timestamp",
        "steps/routing/late_writes.py",
        "        if any(run.has_shown(stored.event.id, stored.stored_at) for run in chain):\n",
        "        if not chain and chain:\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_redelivery_does_not_repeat_an_event_from_an_earlier_email",
        "x",
    ),
    Mutation(
        "an attempt shows only events that earlier attempts with an unknown outcome showed",
        "steps/delivery/windows.py",
        "            elif unknown and self._is_passed_over(stored):\n",
        "            elif not self.now:\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_second_attempt_shows_no_additional_events",
        "x",
    ),
    Mutation(
        "a run names the events that it omitted",
        "steps/delivery/windows.py",
        "                self.left_out.append(name_of(event.id))\n",
        "                continue\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_event_omitted_by_an_unknown_run_is_not_counted_as_shown",
        "x",
    ),
    Mutation(
        "a thread in which an event gets a new timestamp has an open run afterwards",
        "steps/routing/late_writes.py",
        "        if kind_of(name) is ScheduleKind.IMMEDIATE and not claimable(chain):\n",
        "        if kind_of(name) is ScheduleKind.IMMEDIATE and not chain:\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_event_restamped_in_a_thread_is_still_sent",
        "x",
    ),
    Mutation(
        "a redrive of a failed run starts the next run",
        "steps/delivery/resend.py",
        "            return redrive(delivery.run)\n",
        "            return delivery\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_redrive_of_failed_run_sends_all_waiting_events",
        "aa",
    ),
    Mutation(
        "a redrive uses up a sequence of the schedule",
        "steps/occurrences/redrive.py",
        "    context.queue.send([QueuedRun(run.key, delay)])\n    _spend(run, context)\n",
        "    context.queue.send([QueuedRun(run.key, delay)])\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_next_digest_after_redrive_is_on_time_without_repeats",
        "aa",
    ),
    Mutation(
        "a redrive starts no run if a later digest included the events",
        "steps/occurrences/redrive.py",
        "    if carrier := _carrier(failed, chain, context):\n",
        "    if (carrier := _carrier(failed, chain, context)) and not carrier:\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_crash_during_redrive_neither_loses_nor_repeats_events",
        "aa",
    ),
    Mutation(
        "a run that has not ended is not started twice",
        "steps/occurrences/redrive.py",
        "    elif later := _not_ended(failed, chain):\n",
        "    elif (later := _not_ended(failed, chain)) and not later:\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_two_workers_and_duplicate_message_start_one_run",
        "aa",
    ),
    Mutation(
        "the schedule is read before its runs",
        "steps/occurrences/redrive.py",
        "            at_least=schedule.sequence if schedule else 0,\n",
        "            at_least=now.sequence if (now := _schedule(failed.key, context)) else 0,\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_two_workers_and_duplicate_message_start_one_run",
        "aa",
    ),
    Mutation(
        "a redrive that is retried after a crash uses up the sequence",
        "steps/occurrences/redrive.py",
        "            _spend(plan.chain[0], context)\n",
        "            pass\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_fan_out_after_crash_ignores_redrive_run",
        "aa",
    ),
    Mutation(
        "a redrive leaves the sequence of the next occurrence to fan-out",
        "steps/occurrences/redrive.py",
        "        if schedule.next_due_at == run.due_at:\n            return\n",
        "",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_interrupted_fan_out_resumes_with_its_own_run",
        "aa",
    ),
    Mutation(
        "a change of the digest hour does not treat the run of a redrive as an occurrence",
        "steps/subscribers/reschedule.py",
        "stored.due_at == spent.due_at and stored",
        "stored",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_hour_change_after_crash_loses_no_digest",
        "aa",
    ),
    Mutation(
        "an immediate run is superseded by a later run that was sent",
        "steps/delivery/predecessors.py",
        "    if chain.newer and run.is_unclaimed and gives_way(run, chain.newer, changes):\n",
        "    if chain.newer and run.is_unclaimed and gives_way(run, (), changes):\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_run_stored_after_a_later_sent_run_sends_no_duplicate",
        "ab",
    ),
    Mutation(
        "an immediate run is superseded by a later run with an unknown outcome",
        "steps/delivery/predecessors.py",
        "        or bool(each.uncertain)\n",
        "",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_event_sent_after_an_unknown_run_is_sent_once",
        "ab",
    ),
    Mutation(
        "an immediate run waits until the runs that it supersedes have stopped collecting",
        "steps/delivery/predecessors.py",
        "        collecting = (run, *(each for each in older if each.is_unclaimed))\n",
        "        collecting = (run,)\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_redriven_run_includes_events_of_collecting_runs",
        "ab",
    ),
    Mutation(
        "a run that is due at once is not reused for later events in the same second",
        "steps/routing/immediate.py",
        "        elif run.due_at < stored.stored_at or run.reason",
        "        elif run.reason",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_run_due_at_once_does_not_absorb_later_events",
        "ab",
    ),
    Mutation(
        "a run with a fixed window does not supersede a run that collects beyond the window",
        "steps/delivery/predecessors.py",
        "Stop() if _collects_beyond(current, run) else Cancel(Reason.SUPERSEDED)\n",
        "Cancel(Reason.SUPERSEDED)\n",
        "tests/unit/routing/test_move.py::test_trace_ab_fixed_window_run_does_not_end_a_longer_run",
        "ab",
    ),
    Mutation(
        "a later run is read again if an earlier run was stored after the first read",
        "steps/delivery/predecessors.py",
        "    waiting = [changes.apply(each, Stop()) for each in newer if each.is_unclaimed]\n",
        "    waiting = [each for each in newer if each.is_unclaimed]\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_later_run_reads_again_after_an_earlier_run_is_stored",
        "ab",
    ),
    Mutation(
        "the search for waiting events has no upper time limit",
        "steps/occurrences/start.py",
        "    return events.holds(schedule.user_id, schedule.name, after=settled_until(chain))\n",
        "    from datetime import timedelta\n\n"
        "    until = schedule.next_due_at - timedelta(seconds=15)\n"
        "    since = settled_until(chain)\n"
        "    return events.holds(schedule.user_id, schedule.name, after=since, until=until)\n",
        "tests/unit/fanout/test_fanout.py"
        "::test_trace_ac_recently_stored_event_keeps_schedule_active",
        "ac",
    ),
    Mutation(
        "a given-up event does not count as waiting",
        "steps/occurrences/start.py",
        "    return events.holds(schedule.user_id, schedule.name, after=settled_until(chain))\n",
        "    from gazette.domain.delivery.run import sent_until\n"
        "\n"
        "    return events.holds(schedule.user_id, schedule.name, after=sent_until(chain))\n",
        "tests/unit/fanout/test_fanout.py::test_trace_ac_given_up_event_does_not_keep_schedule_active",
        "ac",
    ),
    Mutation(
        "an event is stored before its schedule is read",
        "steps/routing/route.py",
        "        outcome, placed = _route_one(entry.event, all_inputs[entry], tokens, context)\n"
        "        if placed:\n"
        "            waiting[entry] = placed\n",
        "        event, inputs = entry.event, all_inputs[entry]\n"
        "        target = target_of(event, inputs, context)\n"
        "        if isinstance(target, Target) and isinstance(inputs.reader, Subscriber):\n"
        "            arm({(event.user_id, target.schedule): inputs.reader}, context=context)\n"
        "        outcome, _ = _route_one(event, inputs, tokens, context)\n",
        "tests/unit/routing/test_arming.py::test_trace_ad_event_arms_a_schedule_that_is_going_idle",
        "ad",
    ),
    Mutation(
        "the schedule is read with strong consistency",
        "adapters/dynamodb/client.py",
        '            "ConsistentRead": True,\n',
        '            "ConsistentRead": False,\n',
        "tests/contract/dynamodb/test_schedules.py"
        "::test_trace_ad_batch_read_of_schedules_is_strongly_consistent",
        "ad",
    ),
    Mutation(
        "an event arms a leaving schedule",
        "steps/subscribers/schedules.py",
        "current.state in {ScheduleState.LEAVING, ScheduleState.IDLE}",
        "current.state in {ScheduleState.IDLE}",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ad_event_stored_while_its_schedule_goes_idle_is_sent",
        "ad",
    ),
    Mutation(
        "a schedule is flagged before it is removed",
        "steps/occurrences/start.py",
        "        leaving = schedule.leaving()\n"
        "        if not context.schedules.put(leaving, replacing=schedule):\n"
        "            return None\n"
        "        schedule = leaving\n",
        "",
        "tests/unit/fanout/test_fanout.py::test_trace_ad_event_stored_during_fan_out_is_not_lost",
        "ad",
    ),
    Mutation(
        "fan-out checks for events again after it flags a schedule",
        "steps/occurrences/start.py",
        "        if is_waiting(schedule, chain, events=context.events):\n"
        "            return schedule\n",
        "",
        "tests/unit/fanout/test_fanout.py::test_trace_ad_event_stored_during_fan_out_is_not_lost",
        "ad",
    ),
    Mutation(
        "arming a schedule raises its revision",
        "domain/model.py",
        "            state=ScheduleState.ARMED,\n"
        "            next_due_at=next_due_at,\n"
        "            revision=self.revision + 1,\n",
        "            state=ScheduleState.ARMED,\n            next_due_at=next_due_at,\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ad_event_stored_while_its_schedule_goes_idle_is_sent",
        "ad",
    ),
    Mutation(
        "each tick also reads a few much older slots",
        "steps/fanout/fanout.py",
        "_tens(_long_ago(shard), shard.number, context)",
        "_tens((), shard.number, context)",
        "tests/unit/fanout/test_fanout.py::test_trace_ae_very_late_index_entry_is_found",
        "ae",
    ),
    Mutation(
        "a worker re-reads a schedule that another worker has changed",
        "steps/fanout/fanout.py",
        "        return self.context.schedules.get(*key)\n",
        "        return None\n",
        "tests/unit/fanout/test_fanout.py::test_trace_af_worker_rereads_concurrently_changed_schedule",
        "af",
    ),
    Mutation(
        "a redelivered message arms the schedule",
        "steps/routing/route.py",
        "    return outcome, _place_stored(current, target, inputs, tokens)\n",
        "    settled = _place_stored(current, target, inputs, tokens)\n"
        "    return outcome, settled if stored else None\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ag_redelivered_message_arms_the_schedule_after_a_worker_crash",
        "ag",
    ),
    Mutation(
        "a change of choices also arms a schedule that already contained an event",
        "steps/routing/together.py",
        "        if isinstance(reader, Subscriber):\n            names = ",
        "        if isinstance(reader, Subscriber) and settled is not sendable:\n"
        "            names = ",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ag_redelivered_message_arms_the_schedule_after_a_worker_crash",
        "ag",
    ),
    Mutation(
        "the audit arms an idle schedule in which an event waits",
        "steps/sweep/audit.py",
        "    return armed if context.schedules.put(armed, replacing=schedule) else None\n",
        "    return None\n",
        "tests/unit/sweep/test_audit.py"
        "::test_trace_ag_audit_arms_a_schedule_with_a_forgotten_event",
        "ag",
    ),
    Mutation(
        "the removal of a schedule uses up its sequence",
        "steps/occurrences/start.py",
        "    used = context.runs.create(replace(_ended(schedule, context), head=head))\n",
        "    used = _ended(schedule, context)\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ah_two_workers_and_a_move_send_an_event_once",
        "ah",
    ),
    Mutation(
        "a sequence that was used up without a waiting event does not start a run",
        "steps/occurrences/start.py",
        "is_of_another or self.run.reason in sent_nothing\n",
        "is_of_another\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ah_sequence_of_an_idle_occurrence_is_not_reused",
        "ah",
    ),
    Mutation(
        "a run that ended before its schedule became idle counts as the digest of its date",
        "steps/occurrences/start.py",
        "    if not is_taken and used.reason is not Reason.NOTHING_WAITED:\n"
        "        after = replace(after, last_due_at=used.due_at)\n",
        "",
        "tests/unit/subscribers/test_reschedule.py"
        "::test_trace_ah_date_with_a_sent_digest_has_no_second_digest",
        "ah",
    ),
    Mutation(
        "a date without waiting events counts as a date without a digest",
        "domain/model.py",
        "            state=ScheduleState.IDLE,\n",
        "            state=ScheduleState.IDLE,\n            last_due_at=self.next_due_at,\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ah_date_without_waiting_events_may_still_have_a_digest",
        "ah",
    ),
    Mutation(
        "a returning reader's schedules are armed without a check for events",
        "steps/subscribers/schedules.py",
        "            state=ScheduleState.ARMED,\n            next_due_at=next_due_at,\n",
        "            state=ScheduleState.ARMED if current.listed else ScheduleState.IDLE,\n"
        "            next_due_at=next_due_at,\n",
        "tests/unit/subscribers/test_sunset.py"
        "::test_trace_ai_returning_reader_is_armed_without_checking_for_events",
        "ai",
    ),
    Mutation(
        "a returning reader is active before their schedules are armed",
        "steps/subscribers/sunset.py",
        "        if not context.subscribers.put(resumed, replacing=reader):\n"
        "            return False\n"
        "    set_schedules(resumed, context=context, resumes=True)\n",
        "        set_schedules(resumed, context=context, resumes=True)\n"
        "        if not context.subscribers.put(resumed, replacing=reader):\n"
        "            return False\n"
        "    else:\n"
        "        set_schedules(resumed, context=context, resumes=True)\n",
        "tests/unit/subscribers/test_sunset.py"
        "::test_trace_ai_event_during_dormancy_and_resume_is_in_the_next_digest",
        "ai",
    ),
    Mutation(
        "a returning reader's schedule gets a new revision even if it is otherwise unchanged",
        "steps/subscribers/schedules.py",
        "            if resumes and not current.is_idle:\n"
        "                changed = replace(changed, revision=current.revision + 1)\n",
        "",
        "tests/unit/subscribers/test_sunset.py"
        "::test_trace_ai_event_during_dormancy_and_resume_is_in_the_next_digest",
        "ai",
    ),
    Mutation(
        "an event arms the withdrawn schedule of an active reader",
        "steps/subscribers/schedules.py",
        "    return current.is_withdrawn and is_active(reader)\n",
        "    return False\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ai_event_arms_the_withdrawn_schedule_of_an_active_reader",
        "ai",
    ),
    Mutation(
        "the profile is read again after a schedule is armed",
        "steps/subscribers/schedules.py",
        "            latest = withdraw_if_left(reader.user_id, context=context)\n"
        "            if not is_active(latest) or latest.is_unchanged_since(reader):\n"
        "                return\n",
        "            latest = reader\n"
        "            if not is_active(latest) or latest.is_unchanged_since(reader):\n"
        "                return\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ai_schedule_armed_while_its_reader_unsubscribes_is_withdrawn",
        "ai",
    ),
    Mutation(
        "a worker withdraws an armed schedule of a reader who has left",
        "steps/subscribers/schedules.py",
        "            elif current and current.listed and not is_active(reader):\n"
        "                withdraw_if_left(reader.user_id, context=context)\n",
        "",
        "tests/unit/subscribers/test_schedules.py"
        "::test_trace_ai_redelivery_withdraws_a_schedule_armed_for_a_dormant_reader",
        "ai",
    ),
    Mutation(
        "a reader is dormant by date even if no worker has stored the status",
        "steps/routing/target.py",
        "paused_or_dormant_at(event.counts_at, sunset=context.sunset)\n",
        "paused_or_dormant_at(event.counts_at, sunset=None)\n",
        "tests/unit/subscribers/test_sunset.py"
        "::test_trace_aj_event_for_an_inactive_reader_waits_for_the_digest",
        "aj",
    ),
    Mutation(
        "a reader who is dormant by date becomes active with the next activity",
        "steps/subscribers/sunset.py",
        "    if is_dormant or reader.is_overdue_at(at, context.sunset):\n",
        "    if is_dormant:\n",
        "tests/unit/subscribers/test_sunset.py"
        "::test_trace_aj_only_events_after_new_activity_are_sent_immediately",
        "aj",
    ),
    Mutation(
        "saving a page changes only the fields that the reader edited",
        "domain/subscribers/preference_form.py",
        "    changed = sent if was is None else _changed(sent, was, act)\n",
        "    changed = sent\n",
        "tests/unit/preferences/test_two_pages.py::test_trace_ak_two_open_pages_keep_unchanged_fields",
        "ak",
    ),
    Mutation(
        "a choice for one category does not change other categories",
        "domain/subscribers/choices.py",
        "        histories = dict(self.frequencies)\n",
        "        histories: dict[str, History[Frequency]] = {}\n",
        "tests/unit/subscribers/test_choices_by_category.py::test_trace_al_choice_of_a_category_leaves_another_muted",
        "al",
    ),
    Mutation(
        "a profile ends only the choices for categories that it changes",
        "domain/subscribers/choices.py",
        "                    self._chosen.pop(category, None)\n",
        "                    self._chosen.clear()\n",
        "tests/unit/subscribers/test_choices_by_category.py::test_trace_al_profile_that_changes_a_category_leaves_another_muted",
        "al",
    ),
    Mutation(
        "an undo does not resubscribe a reader who has unsubscribed again since",
        "steps/preferences/leaving.py",
        "UNSUBSCRIBED and now.left_at in {None, left_at}\n",
        "UNSUBSCRIBED\n",
        "tests/unit/subscribers/test_taking_back.py"
        "::test_trace_am_repeated_undo_does_not_revert_a_later_unsubscribe",
        "am",
    ),
    Mutation(
        "an undo does not change a later choice for the same category or follow",
        "domain/subscribers/taking_back.py",
        "    return bool(standing) and standing[-1] == at\n",
        "    return at in standing\n",
        "tests/unit/subscribers/test_taking_back.py::test_trace_am_undo_keeps_a_later_choice_of_the_same_kind",
        "am",
    ),
    Mutation(
        "an old page does not resubscribe a reader who has unsubscribed again since",
        "steps/preferences/page.py",
        "        return submission.leave_mark in {None, mark_of_leave(reader)}\n",
        "        return True\n",
        "tests/unit/preferences/test_two_pages.py::test_trace_am_older_page_does_not_undo_later_unsubscribe",
        "am",
    ),
    Mutation(
        "a reader who unsubscribes during a resubscription remains suppressed",
        "steps/subscribers/resubscribe.py",
        "            if number:  # the reader has unsubscribed",
        "            if False:  # the reader has unsubscribed",
        "tests/unit/subscribers/test_taking_back.py::test_trace_am_unsubscribe_during_an_undo_takes_effect",
        "am",
    ),
    Mutation(
        "a run's epoch is raised before its seen events are left out",
        "steps/delivery/deliver.py",
        "    stopped = changed(run, Stop())\n",
        "    stopped = run\n",
        f"{_SEEN}::test_trace_an_worker_that_read_before_the_visit_claims_nothing_that_was_left_out",
        "an",
    ),
    Mutation(
        "events are removed before their run ends",
        "steps/delivery/deliver.py",
        "    unclaimed, removed = _remove(before,",
        "    store(ending.changes, runs=context.runs)\n"
        "    ending, before = replace(ending, changes=()), run\n"
        "    unclaimed, removed = _remove(before,",
        f"{_SEEN}::test_trace_an_amendment_at_any_moment_of_a_delivery_is_sent",
        "an",
    ),
    Mutation(
        "a visit raises the epochs of the entity's immediate runs",
        "steps/ingest/seen.py",
        "    raise_epochs(context.runs.of_thread(user_id, command.entity), runs=context.runs)\n",
        "",
        f"{_SEEN}::test_trace_an_visit_before_the_claim_of_an_immediate_email_stops_it",
        "an",
    ),
    Mutation(
        "a visit raises the epochs of the entity's urgent runs",
        "steps/ingest/seen.py",
        "context.runs.of_thread(user_id, command.entity), runs",
        "[run for run in context.runs.of_thread(user_id, command.entity)"
        " if not run.key.schedule.endswith('u')], runs",
        f"{_SEEN}::test_trace_an_visit_before_the_claim_of_an_immediate_email_stops_it",
        "an",
    ),
)


def table() -> str:
    """Return the list of traces in docs/protocol.md."""
    by_letter = sorted(PREVENTED, key=lambda one: (len(one.trace), one.trace))
    sections = []
    for trace, mutations in groupby(by_letter, key=lambda one: one.trace):
        rows = (f"| {one.rule} | `{one.test.rpartition('::')[2]}` |" for one in mutations)
        head = (
            f"### Trace {trace}",
            "",
            TRACES[trace],
            "",
            "| without this rule | this test fails |",
        )
        sections.append("\n".join((*head, "| --- | --- |", *rows)))
    return "\n\n".join(sections)
