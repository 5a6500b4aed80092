"""The rules that prevent the traces of docs/protocol.md, each with its removal."""

from itertools import groupby
from typing import Final

from proofs.mutations.mutation import Mutation

_CHOICES = "tests/unit/routing/test_choices_at_delivery.py"

TRACES: Final = {
    "a": "The next run is claimed while its predecessor is sending or unknown. The same events "
    "are sent twice, under every policy.",
    "b": "The predecessor's evidence arrives between the write that closes it and the claim of "
    "its successor.",
    "c": "The first claim fixes `since` and is refused. Then the predecessor's evidence arrives, "
    "and its events are repeated.",
    "d": "Evidence arrives for a run that is already retrying, failed or cancelled. A second "
    "email is sent.",
    "e": "A second attempt after `resend` ends unknown too, and the retries never end.",
    "f": "The message of a pending run becomes a dead letter, and the run is lost.",
    "g": "The response to a claim is lost. The worker loses against its own claim.",
    "h": "The claim fixes `until`. Events that are stored between the read and the claim are lost.",
    "i": "A worker stalls past its deadline and then sends.",
    "j": "A message is skipped because the row exists, or a change of preferences leaves a row "
    "without a message.",
    "k": "A schedule advances into the open slot and is orphaned.",
    "l": "An earlier stamp becomes visible after the window was read.",
    "m": "A producer repeats an event after a change of preferences, and a second row is stored.",
    "n": "A moved event lands behind the closed window of its new schedule, is moved out of an "
    "unknown run or one that starts meanwhile, or stays under a stale preference.",
    "o": "A stop is acknowledged between the worker's check for it and the claim.",
    "p": "A date occurs twice, a date is missing, or a cancelled run swallows the new hour of the "
    "same day.",
    "q": "An event breaks every template, an open breaker drains a queue into its dead letters, "
    "or an immediate message is never queued.",
    "r": "A run carries an attempt with an unknown outcome and ends unknown too, and so does its "
    "successor. Copies grow without bound until a transaction is too large and the reader is "
    "blocked.",
    "t": "Evidence for an unclaimed run makes it sent without a window. The chain ends there, and "
    "the next digest repeats every stored event.",
    "z": "A DNS record of the sender is wrong, and every reader of the batch is suppressed.",
    "s": "Refused immediate emails use up every probe of a breaker that they share with digests. "
    "Digests are too late.",
    "u": "One row that is unreadable, or has a value of a newer version, stops everything behind "
    "it.",
    "v": "A monthly digest beyond the daily cap is skipped like a daily one until its events "
    "expire, and the run reports that no event waited. Events expire during a pause. An email "
    "shows an event that has lapsed, or its window closes over one that was given more time.",
    "y": "A reader is erased and returns within the lag of the due index. A sequence is used "
    "twice, and an occurrence is lost. A complaint of one of two readers of an address does not "
    "raise the epoch of the other's runs. The exclusion of an event does not check its run.",
    "w": "A hundred runs of one thread wait, and muted events cannot leave them. The page says "
    '"saved", and an email that is claimed afterwards shows a muted event.',
    "x": "The settle lag relies on the time-out of a request. A worker stalls between the stamp "
    "and the write, and the event is stored behind a closed window and never sent.",
    "aa": "A run that exhausted its attempts is redriven without an email, or two workers, a "
    "crash and fan-out start it twice.",
    "ab": "A worker stalls between an event and its immediate run. The next event of the thread "
    "has a run that sends both, and then the earlier sequence sends both again.",
    "ac": "Fan-out finds no event up to the end of a window and removes the schedule from the due "
    "index. An event that was stored a moment ago then waits for ever. Or events that can no "
    "longer be sent start an empty run at every occurrence.",
    "ad": "An event is stored or moved while fan-out removes its schedule from the due index. It "
    "is never sent.",
    "ae": "An entry of the due index becomes visible behind the slots that ticks read. Its "
    "schedule is never found.",
    "af": "Another worker changes a schedule while fan-out processes it, and its slot is behind "
    "the slots that ticks read. It is never found again.",
    "ag": "A worker dies, or its message becomes a dead letter, after it stores or moves an event "
    "and before it arms the schedule. The event is never sent.",
    "ah": "One worker of fan-out removes a schedule, another starts the run for which it had seen "
    "an event, and the event moves in between. It is sent twice. Or a date has two digests or "
    "none, because its schedule became idle.",
    "ai": "A reader becomes dormant while they return and an event arrives. Their schedule stays "
    "out of the due index.",
    "aj": "Fan-out does not visit an inactive reader, so the status dormant is never stored. A "
    "mention is sent at once on day 300.",
    "ak": "A reader opens a page, turns off a category from an email, and saves the page with "
    "another hour. The category is turned on again.",
    "al": "A reader mutes a category. Then an app publishes a choice for another category, or a "
    "profile changes another one. The mute is lost.",
    "am": "A reader unsubscribes, undoes it and unsubscribes again, and the first undo is "
    "repeated. They get email. The same can happen with a category, a follow, and a restart on an "
    "older page.",
}
"""The failures of earlier versions of the rules, by letter."""

_WINDOW = "    window = window_of(run, older.since,"
_LOCAL_DATE = (
    "int(schedule.next_due_at.astimezone("
    '__import__("zoneinfo").ZoneInfo(schedule.recurrence.time_zone)'
    ').strftime("%Y%m%d"))'
)

PREVENTED: Final = (
    Mutation(
        "a run waits for an older run that may have been sent",
        "steps/delivery/prepare.py",
        "    if older.unsettled:\n",
        "    if older.unsettled and not older.unsettled:\n",
        "tests/unit/delivery/test_predecessors.py::test_trace_a_a_run_waits_while_its_predecessor_may_have_gone",
        "a",
    ),
    Mutation(
        "closing the predecessor and claiming are one transaction",
        "steps/runs.py",
        "                return claimed if runs.swap_together(pairs) else None\n",
        "                for before, after in reversed(pairs):\n"
        "                    runs.swap(before, after)\n"
        "                return claimed\n",
        "tests/unit/delivery/test_predecessors.py"
        "::test_trace_b_evidence_between_reading_and_claiming_makes_the_claim_fail",
        "b",
    ),
    Mutation(
        "each attempt computes `since` anew",
        "steps/delivery/predecessors.py",
        "        return Window(since, run.window.until)\n",
        "        return run.window\n",
        "tests/unit/delivery/test_predecessors.py"
        "::test_trace_c_what_a_run_covers_is_computed_anew_at_each_attempt",
        "c",
    ),
    Mutation(
        "evidence moves any status to sent",
        "domain/delivery/lifecycle.py",
        "    if run.status is Status.SENT:\n",
        "    if run.status not in {Status.SENDING, Status.UNKNOWN}:\n",
        "tests/unit/feedback/test_feedback.py"
        "::test_trace_d_every_delivery_event_proves_acceptance_whatever_the_status",
        "d",
    ),
    Mutation(
        "`resend` applies once only",
        "domain/delivery/lifecycle.py",
        "        case Policy.RESEND if not run.resent:\n",
        "        case Policy.RESEND if True:\n",
        "tests/unit/sweep/test_sweep.py::test_trace_e_a_second_unknown_after_resend_is_given_up",
        "e",
    ),
    Mutation(
        "the sweep queues pending runs again",
        "steps/sweep/sweep.py",
        "            return [_queue_again(run, context.generate_queue, context)]\n",
        "            return [Swept.LEFT_ALONE]\n",
        "tests/unit/sweep/test_sweep.py"
        "::test_trace_f_a_pending_run_whose_message_is_gone_is_queued_again",
        "f",
    ),
    Mutation(
        "a worker recognises its own claim by the nonce",
        "steps/runs.py",
        "            return stored if stored.is_claimed_like(claimed) else None\n",
        "            return stored if not attempt and stored.is_claimed_like(claimed) else None\n",
        "tests/unit/delivery/test_deliver.py::test_trace_g_a_claim_that_nobody_answered_is_asked_for_again",
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
        "::test_trace_h_an_event_that_is_stored_between_read_and_claim_is_in_the_next_digest",
        "h",
    ),
    Mutation(
        "the deadline is checked right before the call",
        "steps/delivery/deliver.py",
        "        or context.clock() + limits.send_timeout > claimed.deadline\n",
        "",
        "tests/unit/delivery/test_deliver.py"
        "::test_trace_i_a_worker_that_stalled_past_its_deadline_does_not_send",
        "i",
    ),
    Mutation(
        "an existing run gets its message",
        "steps/occurrences/start.py",
        "    return Started(occurrence, context.runs.create(run), until, waits=waits)\n",
        "    found = context.runs.create(run)\n"
        "    gone = replace(found, status=Status.SKIPPED)\n"
        "    return Started(occurrence, run if found is run else gone, until, waits=waits)\n",
        "tests/unit/fanout/test_fanout.py::test_trace_j_a_crash_after_the_row_is_mended_by_the_message",
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
        "tests/unit/fanout/test_fanout.py::test_trace_j_a_crash_after_the_row_is_mended_by_the_message",
        "j",
    ),
    Mutation(
        "a change of the hour spends a sequence",
        "steps/subscribers/schedules.py",
        "            sequence=given_up.sequence + (next_due_at != given_up.next_due_at),\n",
        "            sequence=given_up.sequence,\n",
        "tests/unit/fanout/test_fanout.py"
        "::test_trace_j_a_change_of_the_hour_between_message_and_advance_swallows_no_digest",
        "j",
    ),
    Mutation(
        "fan-out advances past missed occurrences to one behind the open slot",
        "steps/fanout/fanout.py",
        "        return [schedule for schedule in after if schedule and self._is_due(schedule)]\n",
        "        return []\n",
        "tests/unit/fanout/test_fanout.py::test_trace_k_a_schedule_never_advances_into_the_open_slot",
        "k",
    ),
    Mutation(
        "a new schedule is due after the open slot",
        "domain/model.py",
        "self.recurrence, after=last_instant_of_slot(now), last=",
        "self.recurrence, after=now, last=",
        "tests/unit/subscribers/test_schedules.py::test_trace_k_the_open_slot_is_never_chosen",
        "k",
    ),
    Mutation(
        "a window ends a settle lag before now",
        "steps/delivery/prepare.py",
        f"{_WINDOW} until=context.clock() - context.limits.settle_lag)\n",
        f"{_WINDOW} until=context.clock())\n",
        "tests/unit/delivery/test_deliver.py"
        "::test_trace_l_an_event_younger_than_the_lag_waits_for_the_next_digest",
        "l",
    ),
    Mutation(
        "each attempt to write takes a new stamp",
        "adapters/dynamodb/events.py",
        "        current = put_or_current(event_row(stored), absent(now), repeat=False)\n",
        "        current = put_or_current(event_row(stored), absent(now))\n",
        "tests/contract/dynamodb/test_events.py"
        "::test_trace_l_a_write_that_met_a_transaction_is_repeated_with_a_stamp_of_its_own",
        "l",
    ),
    Mutation(
        "windows are read strongly consistent",
        "adapters/dynamodb/events.py",
        "        consistent_read=True,\n        page_size=page_size,\n",
        "        page_size=page_size,\n",
        "tests/contract/dynamodb/test_windows.py"
        "::test_trace_l_a_window_is_read_strongly_consistent_from_an_index_of_the_table_itself",
        "l",
    ),
    Mutation(
        "the producer's id is the key, whatever the schedule",
        "adapters/dynamodb/events.py",
        "        event_id=stored.event.id,\n",
        '        event_id=f"{stored.schedule}#{stored.event.id}",\n',
        "tests/contract/dynamodb/test_windows.py::test_trace_m_an_event_id_counts_once_whatever_its_schedule",
        "m",
    ),
    Mutation(
        "a moved event takes a new stamp",
        "adapters/dynamodb/events.py",
        "        actions: list[Action] = [EventRow.stored.set(stored_key(schedule, now))]\n",
        "        stored = stored_key(schedule, stored.stored_at)\n"
        "        actions: list[Action] = [EventRow.stored.set(stored)]\n",
        "tests/contract/dynamodb/test_windows.py::test_trace_n_a_moved_event_lies_in_the_window_of_its_move",
        "n",
    ),
    Mutation(
        "an event that may have been sent is not moved",
        "domain/delivery/run.py",
        "            if run.window and (run.status not in _NOT_SENT or run.uncertain)\n",
        "            if run.window and run.status in {Status.SENT, Status.SENDING}\n",
        "tests/unit/routing/test_route.py::test_trace_n_an_event_is_not_moved_out_of_an_unknown_run",
        "n",
    ),
    Mutation(
        "a move includes the runs of its new schedule in its transaction",
        "steps/routing/move.py",
        "        guard = out + guard_to_arrive(user_id, name, context)\n",
        "        guard = out\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_n_a_move_that_is_written_late_lies_behind_no_closed_window",
        "n",
    ),
    Mutation(
        "a move raises the revision of the schedules",
        "adapters/dynamodb/schedules.py",
        "        actions=[ScheduleRow.revision.add(1)],\n",
        "        actions=[ScheduleRow.revision.add(0)],\n",
        "tests/contract/dynamodb/test_leaving.py"
        "::test_trace_n_fan_out_that_has_read_a_schedule_before_does_not_move_it_on",
        "n",
    ),
    Mutation(
        "a move to a schedule whose digest is being made sees that run",
        "steps/routing/move.py",
        "        not_started=(RunKey(user_id, name, sequence),),\n",
        "        not_started=(RunKey(user_id, name, sequence),) if schedule else (),\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_n_what_moves_to_a_digest_that_is_just_being_made_is_passed_over_by_no_run",
        "n",
    ),
    Mutation(
        "a run that is claimed while others end is included as it was read",
        "steps/routing/move.py",
        " for run in cancelled if run.status is Status.CANCELLED}\n",
        " for run in cancelled}\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_n_a_run_that_is_claimed_while_others_are_superseded_keeps_what_it_sends",
        "n",
    ),
    Mutation(
        "an event that leaves a thread leaves an open run behind",
        "steps/routing/move.py",
        "        if waiting and (collecting_at is None or",
        "        if chain and (collecting_at is None or",
        "tests/unit/routing/test_move.py"
        "::test_trace_n_what_leaves_a_thread_whose_runs_have_ended_is_not_sent_by_a_redrive_too",
        "n",
    ),
    Mutation(
        "the profile is read again after the write",
        "steps/routing/route.py",
        "            if not unsettled:\n",
        "            if True:\n",
        "tests/unit/routing/test_route.py::test_trace_n_nothing_stays_stored_under_a_stale_preference",
        "n",
    ),
    Mutation(
        "an event that waited before a choice is routed again when its run is prepared",
        "steps/delivery/deliver.py",
        "    if outdated and context.route_again(key, outdated, time_left):\n",
        "    if outdated is prepared:\n",
        f"{_CHOICES}::test_trace_n_what_was_muted_in_a_thread_leaves_it_when_its_run_is_prepared",
        "n",
    ),
    Mutation(
        "an event of a writer that had read the old choices is routed again too",
        "steps/delivery/prepare.py",
        "    until = min(window.until, routes_since + OUTDATED_FOR)\n",
        "    until = min(window.until, routes_since)\n",
        f"{_CHOICES}"
        "::test_trace_n_what_a_stalled_writer_puts_in_a_thread_after_the_choice_is_not_sent",
        "n",
    ),
    Mutation(
        "a change of a follow is marked before it is acknowledged",
        "steps/ingest/activities.py",
        "        context.subscribers.mark_rerouted(user_id, context.clock())\n        reroute(",
        "        reroute(",
        f"{_CHOICES}::test_trace_n_what_was_muted_in_a_thread_leaves_it_when_its_run_is_prepared",
        "n",
    ),
    Mutation(
        "a move from a run to a digest arms the digest's schedule first",
        "steps/routing/reroute.py",
        "        arm(_digests_of(elsewhere), context=context)\n",
        "",
        f"{_CHOICES}::test_trace_n_what_leaves_for_a_digest_is_sent_wherever_the_worker_died",
        "n",
    ),
    Mutation(
        "a worker looks at the reader between claim and call",
        "steps/delivery/deliver.py",
        "    if not _is_as_prepared(reader, claimed.rendered.prepared.subscriber):\n",
        "    if reader is claimed:\n",
        "tests/unit/subscribers/test_unsubscribe.py"
        "::test_trace_o_who_stands_between_claim_and_last_look_sees_every_stop",
        "o",
    ),
    Mutation(
        "the last look sees the change of a follow",
        "domain/subscribers/subscriber.py",
        "        return self.is_unchanged_since(read) and self.routes_since == read.routes_since\n",
        "        return self.is_unchanged_since(read)\n",
        f"{_CHOICES}"
        "::test_trace_n_no_email_is_handed_over_with_what_was_muted_before_its_last_look",
        "n",
    ),
    Mutation(
        "cancelling a batch cancels its runs",
        "steps/support/batches.py",
        "        for run in readable(runs.of_batch(slot))\n",
        "        for run in list(readable(runs.of_batch(slot)))[:0]\n",
        "tests/unit/support/test_batches.py"
        "::test_trace_o_no_email_is_claimed_after_the_cancel_was_acknowledged",
        "o",
    ),
    Mutation(
        "runs are numbered, not dated",
        "steps/occurrences/start.py",
        "    run = Run(\n        key=RunKey(schedule.user_id, schedule.name, schedule.sequence),\n",
        f"    run = Run(\n        key=RunKey(schedule.user_id, schedule.name, {_LOCAL_DATE}),\n",
        "tests/unit/subscribers/test_reschedule.py"
        "::test_trace_p_from_auckland_to_honolulu_the_same_date_has_a_digest_under_each_clock",
        "p",
    ),
    Mutation(
        "a date that does not exist is skipped",
        "domain/scheduling/calendar.py",
        "    if midnight.astimezone(zone).date() != day:\n        return None\n",
        "",
        "tests/unit/calendar/test_calendar.py::test_trace_p_a_date_that_does_not_exist_is_passed_over",
        "p",
    ),
    Mutation(
        "the date of a run that was given up counts as one without a digest",
        "steps/subscribers/reschedule.py",
        "    return replace(schedule, last_due_at=max(started, default=None))\n",
        "    return schedule if list(started) else schedule\n",
        "tests/unit/subscribers/test_reschedule.py"
        "::test_trace_p_a_run_that_is_long_due_and_unclaimed_comes_at_the_new_hour",
        "p",
    ),
    Mutation(
        "an event that no email can show is excluded",
        "steps/delivery/edition.py",
        "        since = context.deferred_events.exclude(\n"
        "            event, run, str(why), for_good=event.id in may_have_been_sent\n"
        "        )\n",
        "        raise RenderingFailed(str(why)) from why\n",
        "tests/unit/delivery/test_edition.py"
        "::test_trace_q_a_poison_event_is_excluded_and_the_rest_goes_out",
        "q",
    ),
    Mutation(
        "a run that the breaker stops gets a new message",
        "steps/delivery/generate.py",
        "        queue.send([QueuedRun(done.run.key, min(delay, LONGEST_DELAY))])\n",
        '        raise TimeoutError(f"{delay}: {min(delay, LONGEST_DELAY)}")\n',
        "tests/unit/pacing/test_circuit_breaker_runs.py"
        "::test_trace_q_while_the_breaker_is_open_a_digest_is_requeued",
        "q",
    ),
    Mutation(
        "an immediate run is queued even if its event was stored already",
        "steps/routing/route.py",
        "    return outcome, place_stored(current, target, inputs, context)\n",
        "    return outcome, place_stored(current, target, inputs, context) if stored else []\n",
        "tests/unit/routing/test_immediate.py"
        "::test_trace_q_the_message_is_queued_again_while_the_run_has_not_ended",
        "q",
    ),
    Mutation(
        "an event that was in two attempts with an unknown outcome is in no third",
        "steps/delivery/predecessors.py",
        "    since = max(settled_until((run, *ended)), ",
        "    since = max(sent_until((run, *ended)), ",
        "tests/unit/delivery/test_copies.py::test_trace_r_an_event_is_in_two_digests_at_most",
        "r",
    ),
    Mutation(
        "a run without remaining events has no successor",
        "steps/sweep/unknown.py",
        "    if _is_carried(decided) and _leaves_nothing(run, older):\n",
        "    if _is_carried(decided) and not _leaves_nothing(run, older):\n",
        "tests/unit/delivery/test_copies.py::test_trace_r_an_immediate_event_goes_out_twice_at_most",
        "r",
    ),
    Mutation(
        "an event that may have been sent is excluded for good",
        "steps/delivery/edition.py",
        "for_good=event.id in may_have_been_sent",
        "for_good=event.id in may_have_been_sent and not may_have_been_sent",
        "tests/unit/delivery/test_copies.py"
        "::test_trace_r_what_can_no_longer_be_shown_is_in_two_emails_at_most_put_again_or_not",
        "r",
    ),
    Mutation(
        "an event that is over and may have been sent is given up",
        "steps/delivery/deliver.py",
        "expire(some, run, for_good=may_have_been_sent)",
        "expire(some, run, for_good=())",
        "tests/unit/delivery/test_copies.py"
        "::test_trace_r_what_lapses_between_attempts_is_in_two_emails_at_most_however_often_it_is_amended",
        "r",
    ),
    Mutation(
        "taking out an event that is over raises the epoch of its run in the same transaction",
        "adapters/dynamodb/deferred_events.py",
        "                raise_epoch(run, writes)\n                for event, place",
        "                for event, place",
        "tests/contract/dynamodb/test_deferred_events.py"
        "::test_trace_r_what_another_worker_has_claimed_is_not_taken_out_as_over",
        "r",
    ),
    Mutation(
        "evidence counts only for an attempt that the row knows",
        "domain/delivery/lifecycle.py",
        "    if not run.knows(signal.attempt):\n",
        "    if not signal:\n",
        "tests/unit/delivery/test_lifecycle.py"
        "::test_trace_t_evidence_of_an_attempt_that_nobody_claimed_settles_nothing",
        "t",
    ),
    Mutation(
        "a delivery event of an unclaimed attempt is stored with its reason",
        "steps/feedback/feedback.py",
        "    if run and not run.knows(event.attempt):\n",
        "    if run and not run:\n",
        "tests/unit/feedback/test_unknown_attempts.py"
        "::test_trace_t_a_delivery_event_of_a_run_that_nobody_claimed_repeats_nothing",
        "t",
    ),
    Mutation(
        "a refusal by policy concerns the message, not the address",
        "adapters/mail/ses_faults.py",
        "        if by_policy:\n            fault = Fault.OF_MESSAGE\n",
        "",
        "tests/unit/feedback/test_policy_refusals.py"
        "::test_trace_z_a_wrong_dns_record_of_the_sender_suppresses_nobody",
        "z",
    ),
    Mutation(
        "each stream has a circuit breaker of its own",
        "domain/delivery/streams.py",
        "        return self.immediate if kind_of(schedule) is ScheduleKind.IMMEDIATE "
        "else self.digest\n",
        "        return self.digest\n",
        "tests/unit/pacing/test_circuit_breaker_runs.py::test_trace_s_what_is_refused_at_once_holds_up_no_digest",
        "s",
    ),
    Mutation(
        "a refusal of a stream stops no other",
        "steps/delivery/pacing.py",
        "        if outcome.every_stream:\n",
        "        if True:\n",
        "tests/unit/pacing/test_circuit_breaker_runs.py"
        "::test_trace_s_what_is_refused_for_the_sake_of_its_stream_stops_no_other",
        "s",
    ),
    Mutation(
        "a refusal of the account stops every stream",
        "steps/delivery/pacing.py",
        "        if outcome.every_stream:\n",
        "        if outcome.every_stream and not outcome.every_stream:\n",
        "tests/unit/pacing/test_circuit_breaker_runs.py"
        "::test_trace_s_what_is_refused_for_the_sake_of_the_account_stops_both",
        "s",
    ),
    Mutation(
        "a refusal in one stream does not extend the other's open breaker",
        "steps/delivery/pacing.py",
        ".breaker.trip_if_closed(outcome.detail, now)\n",
        ".breaker.trip(outcome.detail, now)\n",
        "tests/unit/pacing/test_circuit_breaker_runs.py"
        "::test_trace_s_an_open_breaker_of_the_other_stream_stays_as_it_is",
        "s",
    ),
    Mutation(
        "an unknown value is read as unknown",
        "domain/stored.py",
        "        unknown = str.__new__(kind, text)\n",
        "        return next(iter(kind))\n",
        "tests/contract/dynamodb/test_newer_rows.py"
        "::test_trace_u_a_row_of_a_newer_version_is_read_as_such_and_kept",
        "u",
    ),
    Mutation(
        "fan-out continues past rows that it cannot read",
        "steps/fanout/fanout.py",
        "        except UnreadableRow as unreadable:\n"
        "            self.behind.leave(slot_of(schedule.next_due_at), unreadable)\n",
        "        except ZeroDivisionError:\n            self.behind.rows.clear()\n",
        "tests/unit/ingest/test_unreadable.py"
        "::test_trace_u_a_run_that_cannot_be_read_leaves_its_schedule_behind_alone",
        "u",
    ),
    Mutation(
        "each tick looks again at slots that were left behind",
        "steps/fanout/fanout.py",
        "            self.batches.leave_behind(self.shard, slot)\n",
        "            pass\n",
        "tests/unit/ingest/test_unreadable.py"
        "::test_trace_u_what_was_left_behind_is_found_once_it_can_be_read",
        "u",
    ),
    Mutation(
        "the sweep continues past rows that it cannot read",
        "steps/sweep/sweep.py",
        "            results.append((run, Swept.UNREADABLE))\n            continue\n",
        "            raise run\n",
        "tests/unit/ingest/test_unreadable.py::test_trace_u_the_sweep_goes_past_what_it_cannot_read",
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
        "::test_trace_u_an_event_that_cannot_be_read_is_never_left_out_of_its_window",
        "u",
    ),
    Mutation(
        "a digest rarer than daily waits for the next day",
        "steps/delivery/pacing.py",
        "    if why is NoPermit.DAILY_CAP and run.key.schedule == DAILY:\n",
        "    if why is NoPermit.DAILY_CAP and not run.key.is_immediate:\n",
        "tests/unit/calendar/test_lifetime.py"
        "::test_trace_v_a_digest_that_comes_rarely_and_is_beyond_the_cap_goes_out_the_next_day",
        "v",
    ),
    Mutation(
        "a digest rarer than daily is never too late in a queue",
        "domain/delivery/run.py",
        "        is_daily = self.key.schedule == DAILY\n",
        '        is_daily = self.key.schedule != "custom"\n',
        "tests/unit/calendar/test_lifetime.py"
        "::test_trace_v_a_digest_that_comes_rarely_and_is_beyond_the_cap_goes_out_the_next_day",
        "v",
    ),
    Mutation(
        "a run that has only expired events is skipped with the reason `expired`",
        "steps/delivery/prepare.py",
        "        return Reason.EXPIRED\n",
        "        return Reason.EMPTY\n",
        "tests/unit/calendar/test_lifetime.py"
        "::test_trace_v_an_event_that_expires_unsent_is_counted_once_and_is_the_reason",
        "v",
    ),
    Mutation(
        "an event that lapses before the claim is left out",
        "steps/delivery/deliver.py",
        "    if due.has_lapsed(context.clock()):\n",
        "    if False:\n",
        "tests/unit/delivery/test_lapsing.py"
        "::test_trace_v_what_lapses_while_the_email_waits_for_its_permit_is_left_out",
        "v",
    ),
    Mutation(
        "an event that was given more time meanwhile does not count as lapsed",
        "adapters/dynamodb/deferred_events.py",
        "            is_over |= EventRow.body == body_of(stored.event)\n",
        "            is_over |= EventRow.body.exists()\n",
        "tests/contract/dynamodb/test_deferred_events.py"
        "::test_trace_v_what_was_given_more_time_meanwhile_is_not_counted_as_lapsed",
        "v",
    ),
    Mutation(
        "an event lasts until the occurrence after the next one",
        "domain/scheduling/lifetime.py",
        "next_occurrence(wanted, after=next_occurrence(wanted, after=now)) + MARGIN",
        "now + MARGIN",
        "tests/unit/calendar/test_lifetime.py::test_trace_v_a_pause_that_begins_later_does_not_lose_what_waits",
        "v",
    ),
    Mutation(
        "a pause that begins later extends the lifetime of events",
        "steps/routing/reroute.py",
        "        extend_together(deliverable, context=context, time=time)\n",
        "",
        "tests/unit/calendar/test_lifetime.py::test_trace_v_a_pause_that_begins_later_does_not_lose_what_waits",
        "v",
    ),
    Mutation(
        "an event counts as expired only if it is still in its place and has expired",
        "adapters/dynamodb/deferred_events.py",
        "        over: Condition = in_place(stored) & is_over\n",
        "        over: Condition = in_place(stored)\n",
        "tests/contract/dynamodb/test_deferred_events.py::test_trace_v_what_lasts_is_not_counted_as_expired",
        "v",
    ),
    Mutation(
        "a sequence whose run belongs to another occurrence is skipped",
        "steps/fanout/fanout.py",
        "    if started.is_taken:\n",
        "    if started.is_taken and not started:\n",
        "tests/unit/routing/test_sequences.py"
        "::test_trace_y_a_number_that_somebody_else_took_counts_for_no_date",
        "y",
    ),
    Mutation(
        "suppression of the address is checked after the claim",
        "steps/delivery/deliver.py",
        "    if is_suppressed:\n",
        "    if is_suppressed is None:\n",
        "tests/unit/subscribers/test_suppress.py"
        "::test_trace_y_a_complaint_of_one_reader_of_an_address_stops_the_other_one_too",
        "y",
    ),
    Mutation(
        "excluding an event raises the epoch of its run in the same transaction",
        "adapters/dynamodb/deferred_events.py",
        "            with transaction(EventRow) as writes:\n"
        "                raise_epoch(run, writes)\n",
        "            with transaction(EventRow) as writes:\n",
        "tests/contract/dynamodb/test_deferred_events.py"
        "::test_trace_y_what_somebody_else_has_claimed_is_not_excluded",
        "y",
    ),
    Mutation(
        "of many open runs, the newest supersedes the others before an event leaves",
        "steps/routing/move.py",
        "    if len(unclaimed) <= _FEW:\n",
        "    if unclaimed is not None:\n",
        "tests/unit/routing/test_many_at_once.py"
        "::test_trace_w_what_leaves_may_leave_however_many_runs_wait",
        "w",
    ),
    Mutation(
        'the page moves waiting events before it says "saved"',
        "steps/ingest/profiles.py",
        "    if subscriber.routed_for == choices:\n",
        "    if subscriber.routed_for == choices or time_left is not unlimited:\n",
        "tests/unit/preferences/test_page.py"
        "::test_trace_w_what_the_page_says_is_saved_is_in_no_email_claimed_afterwards",
        "w",
    ),
    Mutation(
        'the page marks that a follow has changed before it says "saved"',
        "steps/preferences/page.py",
        "        context.subscribers.mark_rerouted(user_id, context.clock())\n",
        "        pass\n",
        "tests/unit/preferences/test_page.py"
        "::test_trace_w_what_the_page_says_is_saved_is_in_no_email_claimed_afterwards",
        "w",
    ),
    Mutation(
        'the page does not say "saved" if it did not finish',
        "steps/preferences/page.py",
        "        return Notice.UNSURE\n",
        "        return Notice.SAVED\n",
        "tests/unit/preferences/test_page.py"
        "::test_trace_w_what_breaks_off_is_not_told_as_saved_and_ingest_does_it",
        "w",
    ),
    Mutation(
        "an event that was passed over is stamped anew",
        "steps/routing/late_writes.py",
        "        if not any(run.has_passed_over(stored.event.id, stored.stored_at)"
        " for run in chain):\n",
        "        if chain or not chain:\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_a_write_that_comes_late_lies_in_the_next_window",
        "x",
    ),
    Mutation(
        "a repeated message checks the old stamp too",
        "steps/routing/route.py",
        "    current = _restamp_if_late(existing, context=context)\n",
        "    current = _restamp_if_late(existing, context=context) if stored else existing\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_where_its_worker_died_the_message_that_comes_again_stamps_it_anew",
        "x",
    ),
    Mutation(
        "the events of a late follow check their stamps",
        "steps/routing/catch_up.py",
        "            current = restamp_together(some, context=self.context)\n",
        "            current = list(some)\n"
        "            restamp_together([], context=self.context)\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_what_a_late_follow_brings_together_is_stamped_anew_together",
        "x",
    ),
    Mutation(
        "an amendment checks the stamp too",
        "steps/routing/route.py",
        "            current = _restamp_if_late(replace(existing, event=event), context=context)\n",
        "            current = replace(existing, event=event)\n",
        "tests/unit/routing/test_late_writes.py::test_trace_x_an_amendment_stamps_it_anew_as_well",
        "x",
    ),
    Mutation(
        "an event that was in the email is not stamped anew",
        "steps/routing/late_writes.py",
        "        if any(run.has_shown(stored.event.id, stored.stored_at) for run in chain):\n",
        "        if not chain and chain:\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_what_was_in_an_email_does_not_come_again_where_a_later_one_left_it_out",
        "x",
    ),
    Mutation(
        "an attempt shows no event that an earlier one with an unknown outcome did not",
        "steps/delivery/windows.py",
        "            elif unknown and self._is_passed_over(stored):\n",
        "            elif not self._now:\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_a_second_attempt_shows_nothing_that_the_first_had_not",
        "x",
    ),
    Mutation(
        "a run names the events that it left out",
        "steps/delivery/windows.py",
        "                self._left_out.append(name_of(event.id))\n",
        "                continue\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_what_the_run_that_carries_an_unknown_outcome_leaves_out_it_has_not_shown",
        "x",
    ),
    Mutation(
        "an event that is stamped anew in a thread leaves an open run behind",
        "steps/routing/late_writes.py",
        "        if kind_of(name) is ScheduleKind.IMMEDIATE and not claimable(chain):\n",
        "        if kind_of(name) is ScheduleKind.IMMEDIATE and not chain:\n",
        "tests/unit/routing/test_late_writes.py"
        "::test_trace_x_what_is_stamped_anew_in_a_thread_lies_behind_no_window_again",
        "x",
    ),
    Mutation(
        "a redrive of a failed run starts the next run",
        "steps/delivery/resend.py",
        "            return redrive(delivery.run)\n",
        "            return delivery\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_a_redrive_of_what_failed_sends_everything_that_waited",
        "aa",
    ),
    Mutation(
        "a redrive spends a sequence of the schedule",
        "steps/occurrences/redrive.py",
        "    context.queue.send([QueuedRun(run.key, delay)])\n    _spend(run, context)\n",
        "    context.queue.send([QueuedRun(run.key, delay)])\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_the_next_digest_comes_at_its_hour_and_repeats_nothing",
        "aa",
    ),
    Mutation(
        "a redrive starts no run if a later digest had the events",
        "steps/occurrences/redrive.py",
        "    if carrier := _carrier(failed, chain, context):\n",
        "    if (carrier := _carrier(failed, chain, context)) and not carrier:\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_a_crash_anywhere_neither_loses_nor_repeats_what_waited",
        "aa",
    ),
    Mutation(
        "a run that has not ended is not started twice",
        "steps/occurrences/redrive.py",
        "    elif later := _not_ended(failed, chain):\n",
        "    elif (later := _not_ended(failed, chain)) and not later:\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_two_workers_and_a_second_message_start_one_run",
        "aa",
    ),
    Mutation(
        "the schedule is read before its runs",
        "steps/occurrences/redrive.py",
        "            at_least=schedule.sequence if schedule else 0,\n",
        "            at_least=now.sequence if (now := _schedule(failed.key, context)) else 0,\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_two_workers_and_a_second_message_start_one_run",
        "aa",
    ),
    Mutation(
        "a repetition after a crash spends the sequence",
        "steps/occurrences/redrive.py",
        "            _spend(plan.chain[0], context)\n",
        "            pass\n",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_fan_out_after_a_crash_does_not_take_its_run_for_an_occurrence",
        "aa",
    ),
    Mutation(
        "the sequence of the next occurrence is left to fan-out",
        "steps/occurrences/redrive.py",
        "        if schedule.next_due_at == run.due_at:\n            return\n",
        "",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_fan_out_that_broke_off_goes_on_with_its_own_run",
        "aa",
    ),
    Mutation(
        "a change of the hour distinguishes the run of a redrive from an occurrence",
        "steps/subscribers/reschedule.py",
        "stored.due_at == spent.due_at and stored",
        "stored",
        "tests/unit/delivery/test_redrive.py::test_trace_aa_a_change_of_the_hour_after_a_crash_swallows_no_digest",
        "aa",
    ),
    Mutation(
        "an immediate run gives way to a later run that was sent",
        "steps/delivery/prepare.py",
        "    if run.is_unclaimed and gives_way(run, chain.newer, changes):\n",
        "    if run.is_unclaimed and gives_way(run, (), changes):\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_a_run_that_is_stored_when_a_later_one_was_sent_sends_nothing_again",
        "ab",
    ),
    Mutation(
        "an immediate run gives way to a later run with an unknown outcome",
        "steps/delivery/predecessors.py",
        "        or bool(each.uncertain)\n",
        "",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_what_was_sent_instead_of_an_unknown_run_is_not_hidden_by_its_evidence",
        "ab",
    ),
    Mutation(
        "an immediate run waits until the runs that it ends have collected",
        "steps/delivery/prepare.py",
        "        collecting = (run, *(each for each in older if each.is_unclaimed))\n",
        "        collecting = (run,)\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_a_run_that_a_redrive_starts_takes_all_that_others_still_collect",
        "ab",
    ),
    Mutation(
        "a run that is due at once is not reused for later events of its second",
        "steps/routing/immediate.py",
        "        elif run.due_at < stored.stored_at or run.reason",
        "        elif run.reason",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_a_run_that_is_due_at_once_is_not_the_run_of_the_rest_of_its_second",
        "ab",
    ),
    Mutation(
        "a run with a fixed window ends no run that collects beyond it",
        "steps/delivery/predecessors.py",
        "Stop() if _collects_beyond(current, run) else Cancel(Reason.SUPERSEDED)\n",
        "Cancel(Reason.SUPERSEDED)\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_a_run_whose_window_is_fixed_leaves_one_that_collects_for_longer",
        "ab",
    ),
    Mutation(
        "a later run that was read before an earlier one was stored is read again",
        "steps/delivery/predecessors.py",
        "    waiting = [changes.apply(each, Stop()) for each in newer if each.is_unclaimed]\n",
        "    waiting = [each for each in newer if each.is_unclaimed]\n",
        "tests/unit/routing/test_move.py"
        "::test_trace_ab_a_later_run_that_read_before_does_not_claim_what_the_earlier_sends",
        "ab",
    ),
    Mutation(
        "the search for waiting events has no upper bound",
        "steps/occurrences/start.py",
        "    return events.holds(schedule.user_id, schedule.name, after=settled_until(chain))\n",
        "    from datetime import timedelta\n\n"
        "    until = schedule.next_due_at - timedelta(seconds=15)\n"
        "    since = settled_until(chain)\n"
        "    return events.holds(schedule.user_id, schedule.name, after=since, until=until)\n",
        "tests/unit/fanout/test_fanout.py"
        "::test_trace_ac_an_event_that_was_stored_a_moment_ago_waits",
        "ac",
    ),
    Mutation(
        "a given-up event does not count as waiting",
        "steps/occurrences/start.py",
        "    return events.holds(schedule.user_id, schedule.name, after=settled_until(chain))\n",
        "    from gazette.domain.delivery.run import sent_until\n"
        "\n"
        "    return events.holds(schedule.user_id, schedule.name, after=sent_until(chain))\n",
        "tests/unit/fanout/test_fanout.py::test_trace_ac_what_was_given_up_does_not_wait",
        "ac",
    ),
    Mutation(
        "an event is stored before its schedule is read",
        "steps/routing/route.py",
        "            outcome, placed = _route_one(event, inputs, self._context)\n"
        "            settled.update((number, each) for each in placed)\n",
        "            context = self._context\n"
        "            target = target_of(event, inputs, context)\n"
        "            if isinstance(target, Target) and isinstance(inputs.reader, Subscriber):\n"
        "                arm({(event.user_id, target.schedule): inputs.reader}, context=context)\n"
        "            outcome, _ = _route_one(event, inputs, context)\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ad_a_schedule_that_goes_idle_while_an_event_comes_to_it_is_armed",
        "ad",
    ),
    Mutation(
        "the schedule is read strongly consistent",
        "adapters/dynamodb/client.py",
        '            "ConsistentRead": True,\n',
        '            "ConsistentRead": False,\n',
        "tests/contract/dynamodb/test_schedules.py"
        "::test_trace_ad_many_are_read_strongly_consistent",
        "ad",
    ),
    Mutation(
        "an event arms a leaving schedule",
        "steps/subscribers/schedules.py",
        "current.state in {ScheduleState.LEAVING, ScheduleState.IDLE}",
        "current.state in {ScheduleState.IDLE}",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ad_an_event_that_comes_while_its_schedule_goes_idle_is_not_left_behind",
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
        "tests/unit/fanout/test_fanout.py"
        "::test_trace_ad_an_event_that_is_stored_while_fan_out_looks_is_not_left_behind",
        "ad",
    ),
    Mutation(
        "fan-out looks again after the flag",
        "steps/occurrences/start.py",
        "        if is_waiting(schedule, chain, events=context.events):\n"
        "            return schedule\n",
        "",
        "tests/unit/fanout/test_fanout.py"
        "::test_trace_ad_an_event_that_is_stored_while_fan_out_looks_is_not_left_behind",
        "ad",
    ),
    Mutation(
        "a schedule that is armed has another revision",
        "domain/model.py",
        "            state=ScheduleState.ARMED,\n"
        "            next_due_at=next_due_at,\n"
        "            revision=self.revision + 1,\n",
        "            state=ScheduleState.ARMED,\n            next_due_at=next_due_at,\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ad_an_event_that_comes_while_its_schedule_goes_idle_is_not_left_behind",
        "ad",
    ),
    Mutation(
        "each tick also reads some slots of long ago",
        "steps/fanout/fanout.py",
        "_tens(_long_ago(shard), shard.number, context)",
        "_tens((), shard.number, context)",
        "tests/unit/fanout/test_fanout.py::test_trace_ae_an_entry_that_comes_very_late_is_found",
        "ae",
    ),
    Mutation(
        "an overtaken worker reads the schedule again",
        "steps/fanout/fanout.py",
        "        return self.context.schedules.get(*key)\n",
        "        return None\n",
        "tests/unit/fanout/test_fanout.py::test_trace_af_who_is_overtaken_reads_again",
        "af",
    ),
    Mutation(
        "a redelivered message arms the schedule",
        "steps/routing/route.py",
        "    return outcome, place_stored(current, target, inputs, context)\n",
        "    settled = place_stored(current, target, inputs, context)\n"
        "    return outcome, settled if stored else []\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ag_where_its_worker_died_the_message_that_comes_again_arms_the_schedule",
        "ag",
    ),
    Mutation(
        "a change of choices also arms a schedule that already contained an event",
        "steps/routing/together.py",
        "        if isinstance(reader, Subscriber):\n",
        "        if isinstance(reader, Subscriber) and settled is not sendable:\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ag_where_its_worker_died_the_message_that_comes_again_arms_the_schedule",
        "ag",
    ),
    Mutation(
        "the audit arms an idle schedule in which an event waits",
        "steps/sweep/audit.py",
        "    return armed if context.schedules.put(armed, replacing=schedule) else None\n",
        "    return None\n",
        "tests/unit/sweep/test_audit.py"
        "::test_trace_ag_what_a_message_among_the_dead_letters_has_left_behind_is_found",
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
        "a sequence that was used up without a waiting event starts no run",
        "steps/occurrences/start.py",
        "is_of_another or self.run.reason in sent_nothing\n",
        "is_of_another\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ah_a_sequence_that_was_used_where_nothing_waited_is_not_used_again",
        "ah",
    ),
    Mutation(
        "a run that has ended before its schedule goes idle counts as the digest of its date",
        "steps/occurrences/start.py",
        "    if not is_taken and used.reason is not Reason.NOTHING_WAITED:\n"
        "        after = replace(after, last_due_at=used.due_at)\n",
        "",
        "tests/unit/subscribers/test_reschedule.py"
        "::test_trace_ah_a_date_whose_digest_was_sent_before_it_went_idle_has_no_second_one",
        "ah",
    ),
    Mutation(
        "a date without waiting events counts as one without a digest",
        "domain/model.py",
        "            state=ScheduleState.IDLE,\n",
        "            state=ScheduleState.IDLE,\n            last_due_at=self.next_due_at,\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ah_a_date_on_which_nothing_waited_may_still_have_a_digest",
        "ah",
    ),
    Mutation(
        "a returning reader's schedules are armed without a check for events",
        "steps/subscribers/schedules.py",
        "            state=ScheduleState.ARMED,\n            next_due_at=next_due_at,\n",
        "            state=ScheduleState.ARMED if current.listed else ScheduleState.IDLE,\n"
        "            next_due_at=next_due_at,\n",
        "tests/unit/subscribers/test_sunset.py"
        "::test_trace_ai_who_comes_back_is_armed_although_nobody_looks_whether_anything_waits",
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
        "::test_trace_ai_what_comes_while_she_falls_asleep_and_resumes_is_in_the_next_digest",
        "ai",
    ),
    Mutation(
        "a returning reader's schedule gets another revision even if it is otherwise unchanged",
        "steps/subscribers/schedules.py",
        "            if resumes and not current.is_idle:\n"
        "                changed = replace(changed, revision=current.revision + 1)\n",
        "",
        "tests/unit/subscribers/test_sunset.py"
        "::test_trace_ai_what_comes_while_she_falls_asleep_and_resumes_is_in_the_next_digest",
        "ai",
    ),
    Mutation(
        "an event arms the withdrawn schedule of an active reader",
        "steps/subscribers/schedules.py",
        "    return current.is_withdrawn and is_active(reader)\n",
        "    return False\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ai_what_was_withdrawn_of_an_active_reader_is_armed_by_the_next_event",
        "ai",
    ),
    Mutation(
        "after arming, the profile is read again",
        "steps/subscribers/schedules.py",
        "            latest = withdraw_if_left(reader.user_id, context=context)\n"
        "            if not is_active(latest) or latest.is_unchanged_since(reader):\n"
        "                return\n",
        "            latest = reader\n"
        "            if not is_active(latest) or latest.is_unchanged_since(reader):\n"
        "                return\n",
        "tests/unit/routing/test_arming.py"
        "::test_trace_ai_what_is_armed_for_a_reader_who_leaves_meanwhile_is_withdrawn",
        "ai",
    ),
    Mutation(
        "a worker that finds an armed schedule of a reader who has left withdraws it",
        "steps/subscribers/schedules.py",
        "            elif current and current.listed and not is_active(reader):\n"
        "                withdraw_if_left(reader.user_id, context=context)\n",
        "",
        "tests/unit/subscribers/test_schedules.py"
        "::test_trace_ai_what_a_dead_worker_armed_for_a_dormant_reader_is_withdrawn_by_the_repetition",
        "ai",
    ),
    Mutation(
        "the date decides whether a reader is dormant",
        "steps/routing/target.py",
        "paused_or_dormant_at(event.counts_at, sunset=context.sunset)\n",
        "paused_or_dormant_at(event.counts_at, sunset=None)\n",
        "tests/unit/subscribers/test_sunset.py"
        "::test_trace_aj_what_comes_for_who_is_dormant_by_the_date_waits_for_the_digest",
        "aj",
    ),
    Mutation(
        "a reader who was dormant by date resumes with the next activity",
        "steps/subscribers/sunset.py",
        "    if is_dormant or reader.is_overdue_at(at, context.sunset):\n",
        "    if is_dormant:\n",
        "tests/unit/subscribers/test_sunset.py"
        "::test_trace_aj_after_a_sign_of_life_only_what_comes_then_goes_out_at_once",
        "aj",
    ),
    Mutation(
        "a page changes only the fields that the reader changed",
        "domain/subscribers/preference_form.py",
        "    changed = sent if was is None else _changed(sent, was, act)\n",
        "    changed = sent\n",
        "tests/unit/preferences/test_two_pages.py::test_trace_ak_two_pages_leave_alone_what_they_did_not_change",
        "ak",
    ),
    Mutation(
        "a choice for one category leaves the others unchanged",
        "domain/subscribers/choices.py",
        "        histories = dict(self.frequencies)\n",
        "        histories: dict[str, History[Frequency]] = {}\n",
        "tests/unit/subscribers/test_choices_by_category.py::test_trace_al_a_choice_of_one_category_leaves_another_one_muted",
        "al",
    ),
    Mutation(
        "a profile ends only the choices for categories that it changes",
        "domain/subscribers/choices.py",
        "                    self._chosen.pop(category, None)\n",
        "                    self._chosen.clear()\n",
        "tests/unit/subscribers/test_choices_by_category.py::test_trace_al_a_profile_that_changes_one_category_leaves_another_one_muted",
        "al",
    ),
    Mutation(
        "an undo does not resubscribe a reader who has left again since",
        "steps/preferences/leaving.py",
        "UNSUBSCRIBED and now.left_at in {None, left_at}\n",
        "UNSUBSCRIBED\n",
        "tests/unit/subscribers/test_taking_back.py"
        "::test_trace_am_an_undo_that_is_sent_again_does_not_bring_back_who_left_by_a_later_email",
        "am",
    ),
    Mutation(
        "an undo does not change a later choice for the same category or follow",
        "domain/subscribers/taking_back.py",
        "    return bool(standing) and standing[-1] == at\n",
        "    return at in standing\n",
        "tests/unit/subscribers/test_taking_back.py::test_trace_am_an_undo_leaves_a_later_choice_of_the_same_alone",
        "am",
    ),
    Mutation(
        "a page does not resubscribe a reader who has left again since",
        "steps/preferences/page.py",
        "        return submission.leave_mark in {None, mark_of_leave(reader)}\n",
        "        return True\n",
        "tests/unit/preferences/test_two_pages.py::test_trace_am_a_page_starts_nobody_again_who_left_once_more_since",
        "am",
    ),
    Mutation(
        "a reader who leaves during a resubscription stays suppressed",
        "steps/subscribers/resubscribe.py",
        "            if number:  # they unsubscribed",
        "            if False:  # they unsubscribed",
        "tests/unit/subscribers/test_taking_back.py::test_trace_am_who_leaves_again_while_an_undo_is_done_stays_away",
        "am",
    ),
)


def table() -> str:
    """Return the list of traces in docs/protocol.md."""
    by_letter = sorted(PREVENTED, key=lambda one: list(TRACES).index(one.trace))
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
