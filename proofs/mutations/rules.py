"""The rules that delivery depends on, such as the claim, the deadline, the single attempt and the
order, each with its removal.
"""

from typing import Final

from proofs.mutations.mutation import Mutation

_SWAP_HOLDS = "tests/contract/dynamodb/test_runs.py::test_a_swap_holds_only_on_what_was_read"
_SUPPRESS = "tests/unit/subscribers/test_suppress.py"
_LINKS = "tests/unit/preferences/test_which_links_work.py"
_ACTORS = "tests/unit/ingest/test_amended_actors.py"
_CRITICAL = "tests/unit/routing/test_critical.py"
_LONG = "tests/unit/ingest/test_long_messages.py"
_LEAVING = "tests/unit/subscribers/test_leaving.py"
_IMMEDIATE = "tests/unit/routing/test_immediate.py"
_HEADS = "tests/unit/delivery/test_heads.py"
_CHAIN = "domain/scheduling/chain.py"
_TAKING_BACK = "tests/unit/subscribers/test_taking_back.py"
_BY_CATEGORY = "tests/unit/subscribers/test_choices_by_category.py"
_TWO_PAGES = "tests/unit/preferences/test_two_pages.py"
_LEAVING_PAGES = "tests/functions/preferences/test_leaving.py"
_CONTENT = "tests/unit/content/test_digests.py"
_TOGETHER = "tests/contract/pacing/test_side_by_side.py"
_CONFIRMED = "tests/functions/cli/test_templates.py"
_ASK = "tests/unit/content/test_ask.py"
_FETCH = "tests/unit/content/test_fetch.py"
_SWEEP = "tests/unit/sweep/test_sweep.py"
_NEWER_ROWS = "tests/contract/dynamodb/test_newer_rows.py"
_ONE_ROW = "tests/unit/sweep/test_one_row.py"
_MANY_LATE = "tests/unit/routing/test_many_late.py"
_ODD_CLOCKS = "tests/contract/pacing/test_odd_clocks.py"
_NEW_RULES = "tests/unit/fanout/test_new_zone_rules.py"
_NOT_ACKNOWLEDGED = (
    "tests/functions/test_acknowledging.py::test_a_message_whose_commit_failed_is_not_acknowledged"
)

RULES: Final = (
    Mutation(
        "a claim succeeds only on the row as it was read",
        "adapters/dynamodb/runs.py",
        "put_or_current(run_row(after, retention=self._retention), row_as_read(before))",
        "put_or_current(\n"
        "            run_row(after, retention=self._retention), RunRow.user_id.exists()\n"
        "        )",
        "tests/contract/dynamodb/test_runs.py::test_a_swap_that_lost_returns_what_won",
    ),
    Mutation(
        "a claim succeeds only on the attempt that was read",
        "adapters/dynamodb/runs.py",
        "        & (RunRow.attempt == run.attempt)\n",
        "",
        _SWAP_HOLDS,
    ),
    Mutation(
        "a claim succeeds only on the epoch that was read",
        "adapters/dynamodb/runs.py",
        "        & (RunRow.epoch == run.epoch)\n",
        "",
        _SWAP_HOLDS,
    ),
    Mutation(
        "a write of a run keeps the time at which its sources were queried",
        "adapters/dynamodb/runs.py",
        "        unchanged &= RunRow.asked_at.does_not_exist()\n",
        "        pass\n",
        "tests/contract/dynamodb/test_runs.py"
        "::test_a_swap_overwrites_nothing_that_was_written_since_the_run_was_read",
    ),
    Mutation(
        "decoding a row validates its values",
        "adapters/dynamodb/values.py",
        "    if not least <= number <= most:\n",
        "    if number < -MANY:\n",
        _NEWER_ROWS + "::test_trace_u_a_row_that_cannot_be_decoded_is_told_and_passed_over",
    ),
    Mutation(
        "a decoded run has the key of its row",
        "adapters/dynamodb/runs.py",
        "    if run_sort_key(key) != row.run or not 0 <= key.sequence <= LAST_SEQUENCE:\n",
        "    if not 0 <= key.sequence <= LAST_SEQUENCE:\n",
        _NEWER_ROWS + "::test_trace_u_a_run_whose_key_is_of_no_run_stops_no_other",
    ),
    Mutation(
        "a failure of one schedule does not stop its shard",
        "steps/fanout/fanout.py",
        '            with of_one_row("schedules", schedule.user_id, schedule.name):\n'
        "                yield\n",
        "            yield\n",
        _ONE_ROW + "::test_fan_out_starts_all_others_and_remembers_the_slot",
    ),
    Mutation(
        "a failure of one run does not stop the sweep",
        "steps/sweep/sweep.py",
        '            with of_one_row("runs", *_key_of(run)):\n',
        "            if run:\n",
        _ONE_ROW + "::test_the_sweep_looks_at_all_other_runs",
    ),
    Mutation(
        "a failure of one schedule does not stop the audit",
        "steps/sweep/audit.py",
        '            with of_one_row("schedules", schedule.user_id, schedule.name):\n',
        "            if schedule:\n",
        _ONE_ROW + "::test_the_audit_arms_all_others",
    ),
    Mutation(
        "a failure of one schedule does not leave another idle",
        "steps/subscribers/schedules.py",
        "            if not is_of_one_row(err):\n"
        "                raise\n"
        "            failed.append(err)\n",
        "            raise\n",
        _ONE_ROW + "::test_arming_goes_on_behind_a_schedule_that_fails",
    ),
    Mutation(
        "a claim that carries succeeds only on the rows as they were read",
        "adapters/dynamodb/runs.py",
        "                        writes.save(row, row_as_read(before))\n",
        "                        writes.save(row)\n",
        "tests/contract/dynamodb/test_runs_together.py::test_where_one_has_moved_none_is_stored",
    ),
    Mutation(
        "a claim that carries also checks a run that stays unchanged",
        "adapters/dynamodb/runs.py",
        "                            condition=run_as_read(before),\n",
        "                            condition=RunRow.user_id.exists(),\n",
        "tests/contract/dynamodb/test_runs_together.py"
        "::test_one_that_was_only_to_be_looked_at_and_has_moved_stops_all",
    ),
    Mutation(
        "a worker that finds another's claim does not send",
        "steps/runs.py",
        "            return stored if stored.is_claimed_like(claimed) else None\n",
        "            return stored\n",
        "tests/unit/delivery/test_deliver.py::test_a_claim_made_by_another_between_read_and_claim_wins",
    ),
    Mutation(
        "time left and deadline are checked right before the call",
        "steps/delivery/deliver.py",
        "        time_left() < limits.send_timeout + limits.commit_margin\n"
        "        or context.clock() + limits.send_timeout > claimed.deadline\n",
        "        not claimed\n",
        "tests/unit/delivery/test_deliver.py"
        "::test_trace_i_a_worker_without_time_after_its_claim_does_not_send",
    ),
    Mutation(
        "deferring events of a held category makes claims on an older read fail",
        "adapters/dynamodb/deferred_events.py",
        "                    raise_epoch(run, writes)\n",
        "",
        "tests/contract/dynamodb/test_deferred_events.py"
        "::test_what_is_deferred_lies_behind_the_window_and_who_had_read_it_does_not_claim",
    ),
    Mutation(
        "an event that may have been sent is not deferred",
        "steps/delivery/windows.py",
        " and stored.stored_at > self._possibly_sent_until:\n",
        ":\n",
        "tests/unit/delivery/test_category_hold.py"
        "::test_where_evidence_comes_for_what_would_be_carried_nothing_of_it_comes_twice",
    ),
    Mutation(
        "a run continues until all expired events are removed",
        "steps/delivery/prepare.py",
        "    if due.more_are_over:\n",
        "    if False:\n",
        "tests/unit/delivery/test_long_windows.py"
        "::test_however_many_events_have_expired_each_is_removed_and_counted_once",
    ),
    Mutation(
        "an event that left a long window after it was read is not shown",
        "steps/delivery/windows.py",
        " or stored.schedule != key.schedule or not window.holds(stored.stored_at):\n",
        ":\n",
        "tests/unit/delivery/test_long_windows.py"
        "::test_what_leaves_a_long_window_while_it_is_read_is_not_shown",
    ),
    Mutation(
        "a half that can be shown has no event at fault",
        "steps/delivery/edition.py",
        "    if why is None:\n        return\n    if len(events) == 1:\n",
        "    if why is None and len(events) == 1:\n        return\n"
        "    if why and len(events) == 1:\n",
        "tests/unit/delivery/test_edition.py"
        "::test_a_poison_event_is_found_by_halving_what_is_shown",
    ),
    Mutation(
        "an immediate email waits as a whole",
        "steps/delivery/prepare.py",
        "    if run.key.is_immediate:\n        again_at",
        "    if run.key.is_immediate and not due.sent:\n        again_at",
        "tests/unit/delivery/test_category_hold.py"
        "::test_an_immediate_email_waits_with_all_that_is_in_it_and_goes_out_after_the_release",
    ),
    Mutation(
        "a decision based on an outdated read is not stored",
        "steps/runs.py",
        "        if runs.swap(before, after) != after:\n",
        "        if not runs.swap(before, after):\n",
        "tests/unit/delivery/test_deliver.py"
        "::test_an_older_run_that_is_sent_while_it_is_being_settled_closes_its_window",
    ),
    Mutation(
        "a run that takes over is stored before the other ends",
        "steps/delivery/deliver.py",
        "    if ending.starts:\n"
        "        run = context.runs.create(run)\n"
        "    store(ending.changes, runs=context.runs)\n",
        "    store(ending.changes, runs=context.runs)\n"
        "    if ending.starts:\n"
        "        run = context.runs.create(run)\n",
        "tests/unit/routing/test_immediate.py"
        "::test_a_crash_while_one_run_starts_behind_another_loses_nothing",
    ),
    Mutation(
        "the client of SES makes one attempt",
        "adapters/mail/ses.py",
        "read.total_seconds(), attempts=1)",
        "read.total_seconds(), attempts=3)",
        "tests/contract/outside/test_ses_outcomes.py"
        "::test_an_answer_that_is_lost_is_uncertain_after_exactly_one_request",
    ),
    Mutation(
        "any failure before an SMTP server has the message is a rejection",
        "adapters/mail/smtp.py",
        "            self.connection.login(self.server.username, self.server.password)\n"
        "        except Exception as err:",
        "            self.connection.login(self.server.username, self.server.password)\n"
        "        except smtplib.SMTPException as err:",
        "tests/contract/outside/test_smtp_refusals.py"
        "::test_any_exception_before_the_final_dot_is_a_certain_refusal",
    ),
    Mutation(
        "a failure after an SMTP server may have the message is uncertain",
        "adapters/mail/smtp.py",
        "            return Uncertain(self.number, _name(err))\n",
        "            return RefusedForNow(self.number, _name(err))\n",
        "tests/contract/outside/test_smtp_refusals.py"
        "::test_any_exception_after_the_final_dot_is_uncertain",
    ),
    Mutation(
        "any failure before SES gets a request is a rejection",
        "adapters/mail/ses.py",
        "            if _unsent.get():\n                return _not_sent(err, attempt)\n",
        "",
        "tests/contract/outside/test_ses_outcomes.py"
        "::test_any_exception_before_the_request_is_sent_is_a_certain_refusal",
    ),
    Mutation(
        "a connection that is lost behind a proxy may have passed on a request",
        "adapters/mail/ses.py",
        "        return isinstance(cause, NewConnectionError | SlowToConnect)\n",
        "        return cause is not None\n",
        "tests/contract/outside/test_ses_proxy.py"
        "::test_a_connection_that_is_lost_behind_a_proxy_is_uncertain_once_ses_has_the_request",
    ),
    Mutation(
        "a failure after SES may have a request is uncertain",
        "adapters/mail/ses.py",
        '    """Note that botocore is about to send the request."""\n    _unsent.set(False)\n',
        '    """Note that botocore is about to send the request."""\n',
        "tests/contract/outside/test_ses_outcomes.py"
        "::test_any_exception_after_the_request_was_sent_is_uncertain",
    ),
    Mutation(
        "a rejected MAIL command affects the stream, not a run",
        "adapters/mail/smtp_replies.py",
        "(is_permanent and stage in _BEFORE_RCPT)",
        "(is_permanent and stage is Stage.CONNECTION)",
        "tests/contract/outside/test_smtp_replies.py::test_each_reply_concerns_what_it_is_about",
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
        "a failed message is returned to its queue",
        "observability.py",
        "        else:\n            handled[number] = True\n",
        "        handled[number] = True\n",
        _NOT_ACKNOWLEDGED,
    ),
    Mutation(
        "each failed message of a batch is returned to its queue",
        "observability.py",
        "            failed.append(message)\n    if failed:",
        "            pass\n    if failed:",
        "tests/functions/test_handlers.py::test_a_message_that_fails_alone_is_delivered_again_and_its"
        "_nine_neighbours_are_stored_once",
    ),
    Mutation(
        "messages whose events are routed together fail independently",
        "steps/routing/route.py",
        "            if len(parts) == 1:\n",
        "            if True:\n",
        "tests/unit/ingest/test_together.py::test_a_failure_for_one_reader_returns_one_message",
    ),
    Mutation(
        "no event is routed before an earlier message that concerns its reader",
        "steps/ingest/ingest.py",
        "            since.add(reader)\n",
        "            pass\n",
        "tests/unit/ingest/test_together.py::test_no_event_passes_what_concerns_its_reader",
    ),
    Mutation(
        "a waiting message is returned to its queue",
        "observability.py",
        "            _report(message, err)\n            if isinstance(err, Hidden):\n",
        "            _report(message, err)\n"
        "            handled[number] = isinstance(err, NotYet)\n"
        "            if isinstance(err, Hidden):\n",
        "tests/functions/delivery/test_outcomes.py"
        "::test_what_is_refused_for_now_goes_to_resend_which_hides_it",
    ),
    Mutation(
        "a delivery event counts as proof only once its run is settled",
        "steps/feedback/feedback.py",
        "    run = context.runs.get(event.run) if event.run else None\n",
        "    context.evidence_log.record(event.sent_at)\n"
        "    run = context.runs.get(event.run) if event.run else None\n",
        "tests/unit/feedback/test_feedback.py"
        "::test_that_a_delivery_event_came_is_noted_only_once_its_run_is_settled",
    ),
    Mutation(
        "an event that was redriven to feedback goes back to the quarantine",
        "steps/feedback/feedback.py",
        "        context.quarantine.keep(body, str(err))\n        return None\n",
        "        del err\n        return None\n",
        "tests/unit/feedback/test_feedback.py"
        "::test_an_event_of_a_service_that_was_redriven_here_goes_back_to_the_quarantine",
    ),
    Mutation(
        "feedback rejects an event from a source other than SES",
        "adapters/mail/ses_events.py",
        "    if isinstance(source, str) and source != _SOURCE:\n",
        "    if source is None:\n",
        "tests/unit/feedback/test_ses_events.py"
        "::test_an_event_of_a_service_is_refused_with_its_source_and_never_ignored",
    ),
    Mutation(
        "a retraction raises the epoch of the open runs",
        "steps/routing/reroute.py",
        "    if trace and trace.schedule:\n",
        "    if trace and not trace:\n",
        "tests/unit/ingest/test_retracting.py"
        "::test_a_retraction_during_a_delivery_comes_before_the_claim_or_too_late",
    ),
    Mutation(
        "an amendment makes claims on an older read fail",
        "steps/routing/route.py",
        "            raise_epochs_under(existing.schedule, event.user_id, context=context)\n"
        "            current = _restamp_if_late(replace(existing, event=event), context=context)\n",
        "            current = replace(existing, event=event)\n",
        "tests/unit/ingest/test_retracting.py::test_an_amendment_is_in_the_email_until_the_claim",
    ),
    Mutation(
        "an erasure deletes the events",
        "steps/ingest/erasure.py",
        "    after = context.events.erase(user_id, until)\n",
        '    after = ""\n',
        "tests/unit/ingest/test_profiles.py::test_attack_whoever_reads_the_tables_after_an_erasure_finds_nothing",
    ),
    Mutation(
        "an erasure deletes the events page by page to the end",
        "steps/ingest/erasure.py",
        "    while after:\n",
        "    while not after and after:\n",
        f"{_LONG}::test_an_erasure_of_4000_events_and_4000_follows_is_done_in_one_receive",
    ),
    Mutation(
        "the events of a late follow are read again afterwards",
        "steps/ingest/late_follow.py",
        "            if isinstance(each, Activity) and not each.has_content_of(keys[key])\n",
        "            if isinstance(each, Activity) and False\n",
        f"{_LONG}::test_what_changes_while_a_late_follow_is_brought_is_as_if_it_had_come_first",
    ),
    Mutation(
        "the profile is read again after a late follow is processed",
        "steps/routing/catch_up.py",
        "        if not changed:\n",
        "        if True:\n",
        f"{_LONG}::test_a_choice_while_a_late_follow_is_brought_moves_all_of_it",
    ),
    Mutation(
        "a schedule is armed for the events of a late follow",
        "steps/routing/catch_up.py",
        "        arm(waits_in, context=self.context)\n",
        "",
        f"{_LONG}::test_a_late_follow_brings_4000_activities_in_one_receive",
    ),
    Mutation(
        "the rest of an interrupted late follow goes to the followers queue",
        "steps/ingest/activities.py",
        "            followers_queue.send(page_of(follow, each)"
        " for each in readable(chain(some, later)))\n",
        "            break\n",
        f"{_LONG}::test_a_late_follow_leaves_what_takes_too_long_to_the_followers_queue",
    ),
    Mutation(
        "a page of one follower contains no other reader",
        "steps/ingest/late_follow.py",
        """{'~' * 65}" if last""",
        """" if last""",
        f"{_LONG}::test_a_late_follow_leaves_what_takes_too_long_to_the_followers_queue",
    ),
    Mutation(
        "events that move together move under what guards both sides",
        "steps/routing/together.py",
        "            guard += arriving_guard()\n",
        "            guard = arriving_guard()\n",
        f"{_LONG}::test_events_that_move_together_leave_no_run_that_read_them_its_claim",
    ),
    Mutation(
        "a failed transaction leaves none of its events behind",
        "steps/routing/together.py",
        "            one_by_one(stored)\n    return stay\n",
        "            pass\n    return stay\n",
        f"{_LONG}::test_events_whose_transaction_fails_move_one_by_one",
    ),
    Mutation(
        "the guard of a transaction holds what the one before has left",
        "domain/ports/stores.py",
        "            open_runs=tuple(replace(run, epoch=run.epoch + 1) "
        "for run in self.open_runs),\n",
        "",
        "tests/contract/dynamodb/test_leaving.py"
        "::test_a_guard_once_raised_is_that_of_the_next_transaction",
    ),
    Mutation(
        "a list stops before its invocation does",
        "steps/routing/route.py",
        "            require_time(self._time_left, least=PIECE if is_begun else LONGEST)\n",
        "            if not is_begun:\n                require_time(self._time_left)\n",
        f"{_LONG}::test_a_list_stops_before_its_invocation_does",
    ),
    Mutation(
        "a message takes no more than its share",
        "steps/time_budget.py",
        "    return lambda: time_left() - behind\n",
        "    return lambda: behind + LONGEST\n",
        f"{_LONG}::test_a_late_follow_leaves_the_others_of_its_batch_their_time",
    ),
    Mutation(
        "a shown page of follows can be saved after its end has moved",
        "steps/preferences/page.py",
        "    return replace(overview, follows=(*overview.follows, *others))\n",
        "    return overview\n",
        "tests/unit/preferences/test_page.py"
        "::test_what_a_page_showed_is_saved_though_it_ends_elsewhere_by_now",
    ),
    Mutation(
        "an erasure ends the runs",
        "steps/ingest/erasure.py",
        "    for run in under_way if erased else ():\n",
        "    for run in under_way if not erased else ():\n",
        "tests/unit/ingest/test_profiles.py"
        "::test_attack_whoever_reads_the_tables_after_an_erasure_finds_nothing",
    ),
    Mutation(
        "a run of a thread is queued before an event arrives there",
        "steps/routing/move.py",
        "        if collecting_at:\n            queue_run(started, context=context)\n",
        "",
        "tests/unit/routing/test_route.py::"
        "test_a_preference_change_that_broke_off_anywhere_is_whole_after_its_redelivery",
    ),
    Mutation(
        "no digest is due in a pause",
        "domain/scheduling/calendar.py",
        "    if wanted.paused_until:\n        day = max(day, wanted.paused_until)\n",
        "",
        "tests/unit/subscribers/test_pause.py"
        "::test_no_digest_is_scheduled_in_a_pause_and_what_waited_is_one_email",
    ),
    Mutation(
        "the next digest is of another date where new rules moved the last one",
        "steps/occurrences/start.py",
        "    return next_on_another_date(schedule.recurrence, after=due_at, last=due_at)\n",
        "    return next_on_another_date(schedule.recurrence, after=due_at, last=None)\n",
        "tests/unit/fanout/test_fanout.py::test_a_zone_that_is_not_known_here_is_taken_for_utc",
    ),
    Mutation(
        "an occurrence whose date has had its digest is not started",
        "domain/scheduling/calendar.py",
        "    if _is_on(day, wanted) and day != had:\n        return armed_for\n",
        "    if _is_on(day, wanted):\n        return armed_for\n",
        _NEW_RULES + "::test_a_date_that_had_its_digest_has_no_second_one_at_its_end",
    ),
    Mutation(
        "an occurrence that new rules moved before its day waits for the day",
        "domain/scheduling/calendar.py",
        "    return due if due - armed_for < _MOVED_BY else armed_for\n",
        "    return armed_for\n",
        _NEW_RULES + "::test_an_occurrence_moved_before_its_day_waits_for_the_day",
    ),
    Mutation(
        "an occurrence that new rules moved behind its day is not lost",
        "domain/scheduling/calendar.py",
        "        return due if _date_of(before, wanted, zone) == had else armed_for\n",
        "        return due\n",
        _NEW_RULES
        + "::test_what_new_rules_move_behind_its_day_comes_late_rather_than_an_interval_later",
    ),
    Mutation(
        "an occurrence that is moved uses its sequence",
        "steps/occurrences/start.py",
        "    used = context.runs.create(moved)\n",
        "    used = moved\n",
        _NEW_RULES + "::test_two_workers_with_different_zone_data_send_one_digest",
    ),
    Mutation(
        "a dormant reader has no scheduled digest",
        "steps/occurrences/start.py",
        "        return Started(occurrence, context.runs.create(run), not_scheduled=True)\n",
        "        return Started(occurrence, context.runs.create(run))\n",
        "tests/unit/subscribers/test_sunset.py"
        "::test_a_reader_of_whom_nothing_was_seen_for_long_is_taken_out_of_the_due_index",
    ),
    Mutation(
        "a dormant reader who resumes has their digests again",
        "steps/subscribers/sunset.py",
        "    set_schedules(resumed, context=context, resumes=True)\n",
        "",
        "tests/unit/subscribers/test_sunset.py"
        "::test_resuming_cut_off_anywhere_is_whole_after_its_repetition",
    ),
    Mutation(
        "an event past its TTL does not wait",
        "adapters/dynamodb/events.py",
        "            return any(True for _ in _kept(rows, now))\n",
        "            return any(True for _ in rows)\n",
        "tests/contract/dynamodb/test_windows.py"
        "::test_an_expired_event_is_read_until_the_next_run_of_its_schedule_has_seen_it",
    ),
    Mutation(
        "a stale entry of the due index is ignored",
        "steps/fanout/fanout.py",
        "            elif self._is_due(row):\n                yield row\n",
        "            else:\n                yield row\n",
        "tests/unit/fanout/test_fanout.py"
        "::test_an_entry_of_the_due_index_is_not_acted_on_where_the_row_says_otherwise",
    ),
    Mutation(
        "the audit skips events stored within the last hour",
        "steps/sweep/audit.py",
        "    until = context.clock() - _ON_ITS_WAY\n",
        "    until = context.clock()\n",
        "tests/unit/sweep/test_audit.py::test_the_audit_skips_events_of_the_last_hour",
    ),
    Mutation(
        "the audit skips events that an open run may still send",
        "steps/sweep/audit.py",
        "    return all(run.status.is_final for run in chain) and context",
        "    return context",
        "tests/unit/sweep/test_audit.py::test_the_audit_skips_events_of_open_runs",
    ),
    Mutation(
        "no policy decides while a delivery event may arrive",
        "steps/sweep/unknown.py",
        "    if context.clock() < gone_since + context.limits.evidence_grace:\n",
        "    if False:\n",
        f"{_SWEEP}::test_an_unknown_run_is_left_alone_while_its_delivery_event_may_arrive",
    ),
    Mutation(
        "an immediate event that is assumed sent starts no run",
        "steps/sweep/unknown.py",
        "    if _is_carried(decided) and run.key.is_immediate:\n",
        "    if run.key.is_immediate:\n",
        f"{_SWEEP}::test_an_immediate_run_that_is_assumed_sent_starts_no_run",
    ),
    Mutation(
        "a resent run does not wait for proof",
        "steps/sweep/unknown.py",
        "    if policy is Policy.RESEND and not run.resent:\n",
        "    if policy is Policy.RESEND:\n",
        f"{_SWEEP}::test_a_resent_run_does_not_wait_for_proof_of_delivery_events",
    ),
    Mutation(
        "the sweep checks a decided run again later",
        "steps/sweep/unknown.py",
        "    decided = replace(decided, check_at=context.clock() + context.limits.check_after)\n",
        "",
        f"{_SWEEP}::test_an_unknown_outcome_waits_for_evidence_until_its_grace_is_over",
    ),
    Mutation(
        "each sweep audits a different part of the schedules",
        "steps/sweep/audit.py",
        "        number * partitions + partition, partitions",
        "        number * partitions, partitions",
        "tests/unit/sweep/test_audit.py::test_each_idle_schedule_is_audited_once_in_thirty_days",
    ),
    Mutation(
        "a new reader is not visited before an event comes",
        "steps/subscribers/schedules.py",
        "        state=ScheduleState.ARMED if sources else ScheduleState.IDLE,\n",
        "",
        "tests/unit/routing/test_arming.py::test_a_new_reader_without_waiting_events_is_not_visited",
    ),
    Mutation(
        "consecutive soft bounces suppress a reader who gets few emails",
        "steps/feedback/bounces.py",
        "    return limit.is_reached_in_a_row(sent, arrived)\n",
        "    return False\n",
        f"{_SUPPRESS}::test_a_reader_all_of_whose_emails_bounce_is_suppressed_in_whatever_rhythm",
    ),
    Mutation(
        "a delivered email resets the count of consecutive soft bounces",
        "steps/feedback/bounces.py",
        "    return limit.is_reached_in_a_row(sent, arrived)\n",
        "    return limit.is_reached_in_a_row(sent, ())\n",
        f"{_SUPPRESS}::test_an_email_that_arrives_in_between_begins_the_row_anew",
    ),
    Mutation(
        "a reader who becomes the actor of an activity does not get it",
        "domain/subscribers/following.py",
        "    if event.is_own_activity:\n        return None\n",
        "",
        f"{_ACTORS}::test_a_reader_who_becomes_the_actor_is_not_mailed_about_it",
    ),
    Mutation(
        "an activity that was amended reaches its actor too",
        "domain/subscribers/following.py",
        "        return not is_actor or self.amended_at is not None\n",
        "        return not is_actor\n",
        f"{_ACTORS}::test_a_retraction_reaches_the_reader_who_has_become_the_actor",
    ),
    Mutation(
        "a copy that is not withdrawn is amended",
        "steps/routing/route.py",
        "        if not is_amended or context.events.amend(current, event):\n",
        "        if current:\n",
        f"{_ACTORS}::test_a_copy_that_may_have_been_sent_says_what_the_activity_says_now",
    ),
    Mutation(
        "a late follow finds what was below the entity before it was amended",
        "domain/subscribers/following.py",
        "        return side in self.former or (",
        "        return (",
        f"{_ACTORS}"
        "::test_a_late_follow_whose_worker_died_leaves_nothing_of_what_was_moved_meanwhile",
    ),
    Mutation(
        "an activity is kept as long as an event of it may wait",
        "bootstrap/parts/routing.py",
        "        retention=longest_life(timedelta(days=settings.event_retention_days)),\n",
        "        retention=timedelta(days=settings.event_retention_days),\n",
        "tests/functions/ingest/test_activities.py"
        "::test_an_activity_is_kept_as_long_as_any_event_of_it_may_wait",
    ),
    Mutation(
        "a link ends with the address that it went to",
        "domain/links.py",
        "            and self.since == reader.addressed_after\n",
        "",
        f"{_LINKS}::test_attack_who_had_the_address_before_cannot_choose_not_even_if_it_comes_back",
    ),
    Mutation(
        "of several addresses at one instant a link is for its own",
        "domain/links.py",
        "            and self.address == address_hash(reader.email)\n",
        "",
        f"{_LINKS}::test_attack_who_had_an_address_for_an_instant_cannot_choose",
    ),
    Mutation(
        "a link ends with an erasure",
        "steps/ingest/profiles.py",
        "                addressed_after=erased_at,\n",
        "",
        f"{_LINKS}::test_attack_who_had_the_id_before_cannot_choose_not_even_from_the_same_mailbox",
    ),
    Mutation(
        "a link expires",
        "adapters/web/links.py",
        "        if link.has_expired(purpose, self._clock().date()):\n",
        "        if False:\n",
        f"{_LINKS}::test_attack_an_old_link_opens_no_page",
    ),
    Mutation(
        "a link of an unknown scope is refused",
        "domain/links.py",
        "    if not _SCOPE.fullmatch(text):\n",
        "    if False:\n",
        f"{_LINKS}::test_a_link_of_a_scope_that_only_another_version_knows_is_not_taken_for_all",
    ),
    Mutation(
        "an undo is of one link",
        "adapters/web/undo.py",
        "        if of != link or act",
        "        if act",
        f"{_LEAVING_PAGES}::test_attack_what_takes_back_one_link_takes_back_no_other",
    ),
    Mutation(
        "an undo ends after a day",
        "adapters/web/undo.py",
        "        if self._clock() - at > UNDO_FOR:\n",
        "        if False:\n",
        f"{_LEAVING_PAGES}::test_attack_an_undo_ends_after_a_day",
    ),
    Mutation(
        "a reader who ends the digests still gets immediate email",
        "domain/subscribers/leaving.py",
        "    return often if often is Frequency.IMMEDIATE else Frequency.NEVER\n",
        "    return Frequency.NEVER\n",
        f"{_LEAVING}::test_what_is_left_comes_no_more_and_all_else_comes_as_before",
    ),
    Mutation(
        "an undo of a pause leaves the shorter one from before",
        "domain/subscribers/taking_back.py",
        "was_paused or today\n",
        "today\n",
        f"{_TAKING_BACK}::test_an_undo_of_a_pause_leaves_the_shorter_one_from_before",
    ),
    Mutation(
        "of a choice that was ended and made again, only the later one is kept",
        "domain/subscribers/choices.py",
        "        if at <= until:\n            standing",
        "        if True:\n            standing",
        "tests/unit/subscribers/test_ended_choices.py"
        "::test_of_a_choice_that_was_ended_and_made_again_only_the_later_one_is_kept",
    ),
    Mutation(
        "leaving digests reaches follows with a frequency of their own",
        "domain/subscribers/leaving.py",
        "_choice(reader, _no_digest, defaults), _own(known, _no_digest))",
        "_choice(reader, _no_digest, defaults))",
        f"{_LEAVING}::test_what_is_left_comes_no_more_and_all_else_comes_as_before",
    ),
    Mutation(
        "an undo leaves no choice where there was none",
        "domain/subscribers/taking_back.py",
        "then.get(EVERYTHING, DEFAULT)",
        "then.get(EVERYTHING, now[EVERYTHING])",
        f"{_LEAVING}::test_an_undo_restores_the_previous_state",
    ),
    Mutation(
        "a profile keeps the time at which its reader unsubscribed",
        "steps/ingest/profiles.py",
        "        left_at=current.left_at,\n",
        "        left_at=given.left_at,\n",
        f"{_TAKING_BACK}::test_a_profile_after_a_second_leave_lets_no_undo_of_the_first_through",
    ),
    Mutation(
        "a choice that the service has ended stays so however much the service says later",
        "steps/ingest/profiles.py",
        "(service, _choices_left(current, service))",
        "(service, current.reader_choices)",
        "tests/unit/subscribers/test_ended_choices.py"
        "::test_what_the_service_ended_does_not_count_again_after_many_profiles",
    ),
    Mutation(
        "a page that comes again with problems keeps what it showed first",
        "adapters/rendering/preference_page.py",
        'sent["was"][0] if "was" in sent else written_fields(current)',
        "written_fields(current)",
        "tests/unit/rendering/test_preference_page.py"
        "::test_a_page_with_problems_keeps_what_it_showed_first",
    ),
    Mutation(
        "the version before reads the same choices after a rollback",
        "domain/subscribers/whole_maps.py",
        "    instants = chosen_at | {at for at, _ in without_repeats(by_service)}\n",
        "    instants = chosen_at\n",
        f"{_BY_CATEGORY}::test_the_version_before_reads_the_same_after_a_rollback",
    ),
    Mutation(
        "choices that a version after a rollback wrote count",
        "adapters/dynamodb/attributes.py",
        "        if digest == _digest(maps):\n",
        "        if digest:\n",
        "tests/contract/dynamodb/test_former_choices.py"
        "::test_a_row_is_read_and_put_by_both_versions_in_turn",
    ),
    Mutation(
        "early choices are replaced only if both attributes are as read",
        "adapters/dynamodb/subscribers.py",
        "zip(_CHOSEN, _as_stored(reader), strict=True)",
        "zip(_CHOSEN[:1], _as_stored(reader))",
        "tests/contract/dynamodb/test_former_choices.py"
        "::test_early_choices_are_replaced_only_if_both_attributes_are_as_read",
    ),
    Mutation(
        "ingest takes from a choice of the page what it changes",
        "adapters/contract/decoding.py",
        "        return _narrowed(reading.command, fields)\n",
        "        return reading.command\n",
        "tests/contract/outside/test_bus.py"
        "::test_a_choice_by_category_comes_as_a_map_for_the_version_before_and_as_it_was_said",
    ),
    Mutation(
        "a smaller link speaks for the address that it went to",
        "steps/preferences/leaving.py",
        "if isinstance(reader, Subscriber) and is_at(reader, link.address) else None",
        "if isinstance(reader, Subscriber) else None",
        f"{_LEAVING}::test_a_link_for_an_old_address_changes_no_choice",
    ),
    Mutation(
        "no two readers share a thread",
        "steps/delivery/edition.py",
        '_message_id(f"{run.key.user_id} {run.key.schedule}", list_id)',
        "_message_id(run.key.schedule, list_id)",
        "tests/unit/delivery/test_headers.py::test_no_two_readers_entities_or_lists_share_a_thread",
    ),
    Mutation(
        "a reader's activity at another address does not affect this one",
        "steps/subscribers/unsubscribe.py",
        " or not is_at(reader, address):\n            return reader\n        status",
        ":\n            return reader\n        status",
        "tests/unit/subscribers/test_unsubscribe.py"
        "::test_who_left_stays_away_though_the_id_changes_hands_or_moves_meanwhile",
    ),
    Mutation(
        "a row that DynamoDB leaves out of a batch is not taken for one that is not there",
        "adapters/dynamodb/client.py",
        "    if left_out:\n        raise left_out\n",
        "",
        "tests/contract/dynamodb/test_left_out.py"
        "::test_a_key_that_is_left_out_each_time_is_asked_for_five_times_with_growing_pauses",
    ),
    Mutation(
        "a run that DynamoDB leaves out of a batch holds up none behind it",
        "adapters/dynamodb/client.py",
        "        if left_out and not is_any_read:\n",
        "        if left_out:\n",
        "tests/contract/dynamodb/test_left_out.py"
        "::test_an_overdue_run_that_is_left_out_each_time_holds_up_none_behind_it",
    ),
    Mutation(
        "a start is for the address of its link",
        "steps/subscribers/resubscribe.py",
        " or not is_at(reader, address):\n",
        ":\n",
        "tests/unit/subscribers/test_resubscribe.py"
        "::test_attack_who_had_the_id_before_cannot_start_for_who_has_it_now",
    ),
    Mutation(
        "a reader's own request outlasts a stronger cause",
        "adapters/dynamodb/feedback/suppressions.py",
        "        elif not written(row.delete, same & by.does_not_exist()):\n",
        "        elif not written(row.delete, same):\n",
        "tests/contract/feedback/test_suppressions.py"
        "::test_who_asked_for_it_is_known_behind_a_greater_cause",
    ),
    Mutation(
        "a profile keeps the time at which its address was registered",
        "adapters/dynamodb/subscribers.py",
        "        if subscriber.addressed_after:\n",
        "        if False:\n",
        "tests/contract/dynamodb/test_subscribers.py"
        "::test_since_when_an_address_is_on_file_is_kept",
    ),
    Mutation(
        "an erasure that a later profile overtook ends the links before it",
        "steps/ingest/erasure.py",
        "        _erase_before(user_id, at, context, time)\n",
        "",
        f"{_LINKS}::test_attack_an_erasure_ends_links_in_whatever_order_it_comes",
    ),
    Mutation(
        "an erasure that a later profile overtook deletes the choices before it",
        "steps/ingest/erasure.py",
        "            reader.reader_choices.after(at),\n",
        "            reader.reader_choices,\n",
        "tests/unit/ingest/test_profiles.py"
        "::test_what_is_from_before_an_erasure_is_gone_in_whatever_order_it_arrives",
    ),
    Mutation(
        "a new link is mailed to the same registration only",
        "steps/preferences/new_link.py",
        "    if not link.is_for_registration_of(reader):\n        return False\n",
        "",
        "tests/unit/preferences/test_new_link.py"
        "::test_attack_who_had_the_id_before_has_nothing_mailed_to_who_has_it_now",
    ),
    Mutation(
        "a new link is mailed at once, whatever its reader chose",
        "steps/routing/target.py",
        "            if event.category == NEW_LINK:\n",
        "            if False:\n",
        "tests/unit/preferences/test_new_link.py"
        "::test_the_email_goes_to_the_address_on_file_at_once_and_its_links_are_new",
    ),
    Mutation(
        "a critical event reaches a reader who unsubscribed",
        "steps/routing/target.py",
        "            if reader.has_left and not (critical and _may_go_to(reader, context)):\n",
        "            if reader.has_left:\n",
        f"{_CRITICAL}::test_no_choice_of_a_reader_keeps_it_from_coming_at_once_and_once",
    ),
    Mutation(
        "a critical event for a suppressed address starts no run",
        "steps/routing/target.py",
        " (critical and _may_go_to(reader, context)):\n",
        " critical:\n",
        f"{_CRITICAL}::test_each_event_for_a_suppressed_address_costs_what_the_first_did",
    ),
    Mutation(
        "unsubscribing keeps no critical event from being stored",
        "steps/routing/target.py",
        "holds(address_hash(reader.email), critical=True)\n",
        "holds(address_hash(reader.email))\n",
        f"{_CRITICAL}::test_no_choice_of_a_reader_keeps_it_from_coming_at_once_and_once",
    ),
    Mutation(
        "an event joins the newest run of its thread if many wait",
        "steps/routing/immediate.py",
        "    if len(waiting) < _WAITING or waiting[0] != chain[0]:\n",
        "    if waiting is not None:\n",
        f"{_IMMEDIATE}::test_few_runs_of_a_thread_wait_however_late_their_messages_come",
    ),
    Mutation(
        "an event joins no run that was claimed before",
        "steps/routing/immediate.py",
        "if run.is_unclaimed and not run.attempt]\n",
        "if run.is_unclaimed]\n",
        f"{_IMMEDIATE}::test_an_event_joins_no_run_that_was_claimed_before",
    ),
    Mutation(
        "a run that an event joins has another epoch",
        "steps/routing/immediate.py",
        "        changed(newest, Stop()),\n",
        "        newest,\n",
        f"{_IMMEDIATE}"
        "::test_a_worker_that_has_read_a_run_before_an_event_joins_it_does_not_claim_it",
    ),
    Mutation(
        "a run that an event joins collects again",
        "steps/routing/immediate.py",
        "        due_at=max(newest.due_at, new.due_at),\n",
        "",
        f"{_IMMEDIATE}"
        "::test_a_worker_that_has_read_a_run_before_an_event_joins_it_does_not_claim_it",
    ),
    Mutation(
        "a head is behind no run that may still be sent",
        _CHAIN,
        "    if not run.status.is_final or now",
        "    if now",
        f"{_HEADS}::test_a_head_is_behind_every_run_that_may_still_change",
    ),
    Mutation(
        "a head is behind no run that was just created",
        _CHAIN,
        " or now - (run.created_at or run.due_at) <= _CREATED:\n",
        ":\n",
        f"{_HEADS}::test_a_head_is_behind_every_run_that_may_still_change",
    ),
    Mutation(
        "a head is behind no uncertain attempt",
        _CHAIN,
        "    if run.uncertain:\n        return False\n",
        "",
        f"{_HEADS}::test_a_head_is_behind_every_run_that_may_still_change",
    ),
    Mutation(
        "a head is behind no attempt that was refused today",
        _CHAIN,
        "    return run.attempt == 0 or now - claimed_at > _REFUSED\n",
        "    return True\n",
        f"{_HEADS}::test_a_head_is_behind_every_run_that_may_still_change",
    ),
    Mutation(
        "a head includes the runs sent after the previous head",
        _CHAIN,
        "    until = max(sent_until(settled), known_sent_until(chain))\n",
        "    until = sent_until(settled)\n",
        f"{_HEADS}"
        "::test_a_head_knows_what_was_sent_behind_the_one_before_it_and_nothing_that_may_change",
    ),
    Mutation(
        "a short chain has no head",
        _CHAIN,
        "for run in settled) < page:\n",
        "for run in settled) < 1:\n",
        f"{_HEADS}"
        "::test_a_chain_of_a_page_has_a_head_with_the_instant_up_to_which_events_were_sent",
    ),
    Mutation(
        "a chain that is read for an instant passes a head of later ones",
        _CHAIN,
        "        if run.head and (holding is None or run.head.sent_until < holding):\n",
        "        if run.head:\n",
        f"{_HEADS}::test_a_chain_that_is_read_for_an_instant_passes_a_head_of_later_ones",
    ),
    Mutation(
        "a chain reads no row behind its head",
        _CHAIN,
        "        if run.ends_chain(of, holding) or run.key.sequence == settled + 1:\n",
        "        if run.ends_chain(of, holding):\n",
        f"{_HEADS}::test_a_chain_reads_no_row_more_than_it_needs",
    ),
    Mutation(
        "events sent behind a head are not sent again",
        "domain/delivery/run.py",
        "        known_sent_until(runs),\n        *(run.window.until for",
        "        *(run.window.until for",
        f"{_HEADS}::test_a_chain_ends_at_the_newest_head_and_takes_its_instant",
    ),
    Mutation(
        "events sent behind a head do not move",
        "domain/delivery/run.py",
        "        known_sent_until(runs),\n        *(\n",
        "        *(\n",
        f"{_HEADS}::test_a_chain_ends_at_the_newest_head_and_takes_its_instant",
    ),
    Mutation(
        "a run behind a head gives way",
        "steps/delivery/predecessors.py",
        "    return is_behind_head(run, newer) or any(\n",
        "    return any(\n",
        f"{_HEADS}::test_a_run_behind_a_head_gives_way",
    ),
    Mutation(
        "a run takes what a newer one knows of the windows behind its head",
        "steps/delivery/predecessors.py",
        "max(settled_until((run, *ended)), known_sent_until(newer))\n",
        "settled_until((run, *ended))\n",
        f"{_HEADS}::test_an_older_run_takes_what_a_newer_one_knows_of_the_windows_behind_its_head",
    ),
    Mutation(
        "no run is created behind the newest",
        "steps/routing/immediate.py",
        "    if not chain or chain[0].key.sequence < new.key.sequence:\n",
        "    if chain is not None:\n",
        f"{_HEADS}::test_a_message_of_long_ago_creates_no_run_behind_the_newest",
    ),
    Mutation(
        "a redrive looks behind a head",
        "steps/occurrences/redrive.py",
        "    if sent == BEGINNING or sent < until:\n",
        "    if not any(run.closes_a_window for run in chain):\n",
        f"{_HEADS}::test_a_redrive_finds_the_email_that_had_the_events_behind_a_head",
    ),
    Mutation(
        "fan-out stores a head with the run that it starts",
        "steps/occurrences/start.py",
        "        run = replace(run, head=head_for(chain, now))\n",
        "",
        f"{_CONTENT}::test_a_digest_with_nothing_new_reads_three_pages_of_runs_however_old_it_is",
    ),
    Mutation(
        "an event stores a head with the run that it starts",
        "steps/routing/immediate.py",
        "replace(new, head=head_for(chain, context.clock()))",
        "new",
        f"{_HEADS}::test_an_event_of_a_thread_stores_a_head_with_its_run",
    ),
    Mutation(
        "a thread whose runs only end one another collects for longer",
        "steps/routing/immediate.py",
        "    if _is_stopped(chain):\n",
        "    if False:\n",
        f"{_HEADS}::test_each_event_of_a_stopped_stream_reads_few_runs",
    ),
    Mutation(
        "no email combines critical and other events",
        "steps/routing/target.py",
        "            return Target(critical_schedule(event.entity.key))\n",
        "            return Target(immediate_schedule(event.entity.key))\n",
        f"{_CRITICAL}::test_in_every_history_each_is_in_one_email_that_shows_nothing_else",
    ),
    Mutation(
        "a reader who unsubscribed gets only critical events",
        "domain/delivery/run.py",
        "    return reader.receives_critical if key.is_critical else reader.receives_email\n",
        "    return reader.receives_critical\n",
        f"{_CRITICAL}::test_a_run_of_the_rest_is_not_sent_to_who_left_even_if_the_address_is_free",
    ),
    Mutation(
        "a bounce, a complaint and an operator stop critical events",
        "adapters/dynamodb/feedback/suppressions.py",
        "not (critical and row.reason == Cause.UNSUBSCRIBED.value)\n",
        "not critical\n",
        "tests/contract/feedback/test_suppressions.py"
        "::test_only_unsubscribing_lets_critical_email_through",
    ),
    Mutation(
        "only a reader who unsubscribed can undo it",
        "steps/subscribers/resubscribe.py",
        "        suppressions.resubscribe(address, user_id)\n",
        "        suppressions.lift(address, suppressions.get(address).cause)\n",
        "tests/unit/subscribers/test_resubscribe.py"
        "::test_attack_who_shares_an_address_cannot_take_back_that_the_other_left",
    ),
    Mutation(
        "an unsubscribe link speaks for its own address",
        "steps/subscribers/unsubscribe.py",
        " or not is_at(reader, address):\n            suppressions.add",
        ":\n            suppressions.add",
        "tests/unit/subscribers/test_unsubscribe.py"
        "::test_attack_an_old_address_cannot_leave_for_the_new_one",
    ),
    Mutation(
        "a run is repeated with the version of the templates that it was claimed with",
        "domain/delivery/run.py",
        "        return self.templates if self.attempt else None\n",
        "        return None\n",
        "tests/unit/templates/test_runs.py"
        "::test_a_run_is_repeated_with_the_version_of_its_first_claim",
    ),
    Mutation(
        "a version is used only if it equals the pushed one",
        "adapters/templates/library.py",
        "        if checksum_of(content) != version.checksum:\n",
        "        if False:\n",
        "tests/unit/templates/test_library.py::test_a_tampered_bundle_is_never_unpacked",
    ),
    Mutation(
        "a confirmed change is refused if other versions are in force by then",
        "steps/support/templates.py",
        "    if seen is not None and current != seen:\n",
        "    if False:\n",
        f"{_CONFIRMED}::test_a_yes_is_about_what_the_question_named",
    ),
    Mutation(
        "a push names the versions that were in force when it asked",
        "cli/templates/command.py",
        "            seen=before,\n        )\n",
        "        )\n",
        f"{_CONFIRMED}::test_a_yes_is_about_what_the_question_named",
    ),
    Mutation(
        "a rollout names the versions that were in force when it asked",
        "cli/templates/command.py",
        "roll_out(percent, by=caller(), context=context, seen=before)",
        "roll_out(percent, by=caller(), context=context)",
        f"{_CONFIRMED}::test_a_yes_is_about_what_the_question_named",
    ),
    Mutation(
        "a rollback names the versions that were in force when it asked",
        "cli/templates/command.py",
        "roll_back(to, by=caller(), context=context, seen=seen)",
        "roll_back(to, by=caller(), context=context)",
        f"{_CONFIRMED}::test_a_yes_is_about_what_the_question_named",
    ),
    Mutation(
        "an event that the deployed templates can show is not left out for a pushed version",
        "steps/delivery/edition.py",
        "        if fallback is None:\n",
        "        if True:\n",
        "tests/unit/templates/test_runs.py"
        "::test_what_a_pushed_version_cannot_show_is_shown_by_what_was_deployed",
    ),
    Mutation(
        "a run waits until the fetched items can be read",
        "steps/delivery/content.py",
        "            return () if readable_at < now else Awaited(readable_at + _ROUNDING)\n",
        "            return ()\n",
        f"{_CONTENT}::test_the_run_waits_until_all_that_was_fetched_can_be_read",
    ),
    Mutation(
        "a run asks its content sources once",
        "steps/delivery/content.py",
        "None if run.asked_at else fetch)\n",
        "fetch)\n",
        f"{_CONTENT}::test_a_run_asks_its_sources_once_however_often_it_looks",
    ),
    Mutation(
        "a run whose window a claim has fixed waits for no items",
        "steps/delivery/prepare.py",
        " or run.window is not None:\n        return run.without\n",
        ":\n        return run.without\n",
        f"{_CONTENT}::test_an_attempt_whose_window_is_fixed_waits_for_no_items",
    ),
    Mutation(
        "a schedule that asks a content source does not pass an occurrence whose run is open",
        "steps/occurrences/start.py",
        "    elif not used.status.is_final:\n        return schedule\n",
        "",
        f"{_CONTENT}::test_an_occurrence_whose_run_another_worker_has_just_started_is_not_passed",
    ),
    Mutation(
        "a digest whose schedule is gone waits for no items",
        "steps/delivery/content.py",
        "        if schedule is None or not asked_among",
        "        if not asked_among",
        f"{_CONTENT}::test_a_digest_whose_schedule_is_gone_waits_for_no_items",
    ),
    Mutation(
        "a digest goes without its items as soon as its tolerance ends",
        "steps/delivery/content.py",
        "Awaited(min(now + pause, until), ",
        "Awaited(now + pause, ",
        f"{_CONTENT}::test_it_goes_without_as_soon_as_its_tolerance_ends",
    ),
    Mutation(
        "an occurrence whose sources returned no items is not started again",
        "steps/occurrences/start.py",
        "        sent_nothing = _SENT_NOTHING if self.waits else _NEVER_STARTED\n",
        "        sent_nothing = _SENT_NOTHING\n",
        f"{_CONTENT}::test_an_occurrence_whose_sources_had_nothing_is_not_started_again",
    ),
    Mutation(
        "a schedule that asks a content source stays armed",
        "steps/fanout/fanout.py",
        "        if quiet.asks:\n",
        "        if False:\n",
        f"{_CONTENT}::test_it_stays_armed_for_a_year_of_nothing_and_then_shows_an_item",
    ),
    Mutation(
        "items that are stale at the due time are fetched again",
        "domain/content.py",
        " and now - fetched_at <= fresh_for\n",
        "\n",
        f"{_CONTENT}::test_stale_items_are_fetched_again_at_the_due_time",
    ),
    Mutation(
        "assigning a source to readers reads the profile again",
        "steps/support/sources.py",
        "            if latest.is_unchanged_since(reader):\n",
        "            if latest:\n",
        "tests/unit/content/test_arming.py::test_no_content_is_fetched_after_the_category_is_muted",
    ),
    Mutation(
        "a follow from before an erasure is not stored with later ones",
        "steps/routing/follows.py",
        "        if current and _is_from_before_an_erasure(command, current, context):\n"
        "            return current\n",
        "",
        "tests/unit/ingest/test_activities.py"
        "::test_a_follow_from_before_an_erasure_leaves_one_since_then_as_it_is",
    ),
    Mutation(
        "a digest whose reader wants no items in it waits for none",
        "steps/delivery/content.py",
        "        if schedule is None or not asked_among(schedule.sources):\n",
        "        if schedule is None:\n",
        f"{_CONTENT}::test_a_digest_that_waits_goes_at_once_when_its_reader_wants_no_items_in_it",
    ),
    Mutation(
        "a run that is of no occurrence waits for no items",
        "steps/delivery/content.py",
        "        if not schedule.is_asked_for(run.due_at):\n",
        "        if False:\n",
        f"{_CONTENT}::test_a_redriven_digest_shows_its_sources_in_their_order_and_waits_for_none",
    ),
    Mutation(
        "a redriven run has the sources of its schedule",
        "steps/occurrences/redrive.py",
        "sources=schedule.sources if schedule else (),\n",
        "sources=(),\n",
        f"{_CONTENT}::test_a_redriven_digest_for_which_nothing_is_left_says_that_nothing_was_new",
    ),
    Mutation(
        "of two fetches that answer differently, the reader has had only what still waits",
        "steps/content/fetch.py",
        "        if schedule.fetched_at != read.fetched_at:\n",
        "        if False:\n",
        f"{_CONTENT}::test_two_fetches_with_different_answers_lose_no_item",
    ),
    Mutation(
        "a fetch is made for as long as the version of its reader lets the digest wait",
        "steps/content/fetch.py",
        "    if waits <= context.useful_for:\n        return False\n",
        "    if True:\n        return waits > context.useful_for\n",
        "tests/functions/test_content.py"
        "::test_a_digest_is_fetched_for_as_long_as_the_version_of_its_reader_lets_it_wait",
    ),
    Mutation(
        "no thread waits longer for its permit than it said",
        "adapters/dynamodb/pacing/pace.py",
        "        patience = min(",
        "        patience = max(",
        f"{_TOGETHER}::test_no_thread_waits_longer_than_it_said_because_others_are_patient",
    ),
    Mutation(
        "a thread that waited for others has as long for its permit",
        "adapters/dynamodb/pacing/pace.py",
        "        latest = now + patience\n",
        "        latest = min(until for _, until in asked)\n",
        f"{_TOGETHER}::test_a_thread_that_waited_for_the_others_has_as_long_for_its_permit",
    ),
    Mutation(
        "permits that are taken together fit into the cap of the day",
        "adapters/dynamodb/pacing/pace.py",
        "PaceRow.taken <= reservation.cap - reservation.number\n",
        "PaceRow.taken < reservation.cap\n",
        f"{_TOGETHER}::test_threads_take_no_more_of_the_day_than_others_have_left",
    ),
    Mutation(
        "permits that are taken together fit into the quota of the account",
        "adapters/dynamodb/pacing/pace.py",
        "PaceRow.left >= reservation.number\n",
        "PaceRow.left > 0\n",
        f"{_TOGETHER}::test_threads_take_no_more_of_the_account_than_others_have_left",
    ),
    Mutation(
        "the last of the permits that are taken together is in time",
        "adapters/dynamodb/pacing/pace.py",
        "        last = latest - (reservation.number - 1) * reservation.cost\n",
        "        last = latest\n",
        f"{_TOGETHER}::test_the_last_of_the_permits_is_in_time_however_many_others_have_taken",
    ),
    Mutation(
        "a permit that is a second old is void",
        "steps/content/ask.py",
        "    if permit.is_probe or context.clock() - permit.at <= _IN_TIME:\n",
        "    if True:\n",
        "tests/unit/content/test_fetch.py"
        "::test_workers_that_stall_with_their_permits_ask_no_faster_for_it",
    ),
    Mutation(
        "a request to a content source waits for its permit",
        "steps/content/ask.py",
        "        context.sleep(wait)\n",
        "        pass\n",
        f"{_ASK}::test_a_request_waits_for_its_permit",
    ),
    Mutation(
        "a request is not repeated once the budget is used up",
        "steps/content/ask.py",
        " or not context.health.now.may_retry\n",
        "\n",
        f"{_ASK}::test_a_request_is_not_repeated_once_the_budget_is_used_up",
    ),
    Mutation(
        "only the answer to a probe closes the breaker of a content source",
        "steps/content/ask.py",
        "    if permit.is_probe:\n        with suppress",
        "    if True:\n        with suppress",
        f"{_ASK}::test_an_answer_to_an_earlier_request_does_not_close_the_breaker",
    ),
    Mutation(
        "content is not fetched for a reader who unsubscribes meanwhile",
        "steps/content/fetch.py",
        "    if not is_active(reader):\n",
        "    if reader is None:\n",
        f"{_FETCH}::test_a_reader_who_leaves_while_they_are_asked_for_is_not_asked_for",
    ),
    Mutation(
        "content is not fetched for an erased reader",
        "steps/content/fetch.py",
        "    if schedule is None or not schedule.is_asked_for",
        "    if not schedule.is_asked_for",
        f"{_FETCH}::test_a_reader_who_was_erased_is_not_asked_for",
    ),
    Mutation(
        "an item that a digest has shown takes no place of a new one",
        "steps/content/store.py",
        "            if outcome in _NOT_NEW and event.id not in waiting_ids\n",
        "            if False\n",
        "tests/unit/content/test_fetch.py"
        "::test_what_was_in_a_digest_takes_no_place_although_the_schedule_has_forgotten_it",
    ),
    Mutation(
        "a version that was rolled back is not used in the place of another",
        "steps/delivery/versions.py",
        "        if current < before or ",
        "        if ",
        "tests/unit/templates/test_runs.py"
        "::test_what_was_rolled_back_is_not_used_where_the_version_behind_it_cannot_be_had",
    ),
    Mutation(
        "a process that missed changes does not fall back to the version that it had before",
        "steps/delivery/versions.py",
        " or (current != before and missed_some):\n",
        ":\n",
        "tests/unit/templates/test_sleeping.py"
        "::test_a_process_that_slept_through_a_rollback_does_not_fall_back_to_what_was_rolled_back",
    ),
    Mutation(
        "a run is claimed with the version that is in force at its claim",
        "steps/delivery/deliver.py",
        "        if chosen.templates.number != rendered.chosen.templates.number:\n",
        "        if False:\n",
        "tests/unit/templates/test_sleeping.py"
        "::test_a_run_is_claimed_with_the_version_in_force_at_its_claim",
    ),
    Mutation(
        "an email is not sent if a hold on its category begins before its permit",
        "steps/delivery/deliver.py",
        "    return not due.categories.isdisjoint(context.held_categories())\n",
        "    return False\n",
        "tests/unit/templates/test_sleeping.py"
        "::test_a_category_that_was_held_meanwhile_is_not_in_the_email",
    ),
    Mutation(
        "a next permit that lies too far ahead is not believed",
        "domain/delivery/pace.py",
        "    is_ahead = at > furthest\n",
        "    is_ahead = False\n",
        f"{_ODD_CLOCKS}"
        "::test_what_one_clock_an_hour_ahead_has_taken_holds_up_nobody_for_longer_than_ten_seconds",
    ),
    Mutation(
        "a next permit that was right is set back seldom by a clock that is behind",
        "domain/delivery/pace.py",
        "    if is_ahead and _may_be_set_back_from(pace, now) <= now:\n",
        "    if is_ahead:\n",
        f"{_ODD_CLOCKS}"
        "::test_no_second_has_more_permits_than_those_of_the_longest_wait_beyond_its_rate",
    ),
    Mutation(
        "a permit after a correction is later than all permits taken",
        "domain/delivery/pace.py",
        "        at = latest  # other workers have not taken a later permit\n",
        "        at = now\n",
        f"{_ODD_CLOCKS}"
        "::test_what_one_clock_an_hour_ahead_has_taken_holds_up_nobody_for_longer_than_ten_seconds",
    ),
    Mutation(
        "a breaker holds for its longest step at most",
        "domain/delivery/circuit_breaker.py",
        " and (self.by_hand or self.until - now <= LONGEST_STEP + CLOCK_SKEW)\n",
        "\n",
        f"{_ODD_CLOCKS}"
        "::test_a_breaker_that_a_clock_ahead_opened_holds_for_the_longest_step_at_most",
    ),
    Mutation(
        "a stretch of the ramp that begins later than now is over",
        "domain/delivery/pace.py",
        "    return pace.stretch_at - now > CLOCK_SKEW\n",
        "    return False\n",
        f"{_ODD_CLOCKS}::test_a_stretch_that_begins_later_than_now_holds_the_ramp_up_no_longer",
    ),
    Mutation(
        "the audit takes the turn of its tick, however late its message is",
        "steps/sweep/audit.py",
        "    at = tick or context.clock()\n",
        "    at = context.clock()\n",
        "tests/unit/sweep/test_audit.py"
        "::test_a_message_that_is_late_or_comes_again_takes_the_turn_of_its_tick",
    ),
    Mutation(
        "an audit that is cut off says so",
        "steps/sweep/audit.py",
        "            is_cut_off = True\n",
        "",
        "tests/unit/sweep/test_audit.py"
        "::test_a_message_that_there_is_no_time_for_is_cut_off_and_comes_again",
    ),
    Mutation(
        "a run that would name too many events waits until its window is stable",
        "steps/delivery/prepare.py",
        "    if len(due.newest) > MOST_NEWEST:\n",
        "    if False:\n",
        f"{_MANY_LATE}::test_more_are_sent_once_no_write_can_be_under_way_and_none_is_named",
    ),
    Mutation(
        "a shortened window contains all events that its thread collects",
        "steps/delivery/prepare.py",
        "    if earlier.until >= max(collects_until, window.since, *carried):\n",
        "    if earlier.until >= window.since:\n",
        f"{_MANY_LATE}::test_more_are_sent_once_no_write_can_be_under_way_and_none_is_named",
    ),
    Mutation(
        "a run that names no event has shown those that were stored last",
        "domain/delivery/run.py",
        " and self.newest != EACH_READ:\n",
        ":\n",
        f"{_MANY_LATE}"
        "::test_an_event_that_left_out_names_was_passed_over_where_each_other_one_was_read",
    ),
    Mutation(
        "a cached value does not last longer because the clock is set back",
        "adapters/cached.py",
        "            if not timedelta(0) <= now - self._tried_at < READ_INTERVAL:\n",
        "            if not now - self._tried_at < READ_INTERVAL:\n",
        "tests/unit/templates/test_sleeping.py"
        "::test_a_value_is_read_again_after_a_sleep_and_after_the_clock_was_set_back",
    ),
    Mutation(
        "each rendering imports its templates anew",
        "adapters/rendering/environment.py",
        "        return self.make_module({",
        "        return super()._get_default_module(ctx) or self.make_module({",
        "tests/unit/rendering/test_no_state.py"
        "::test_no_reader_gets_what_an_email_to_another_one_left_behind",
    ),
    Mutation(
        "a block that is cached has not seen the block before it",
        "adapters/rendering/fragments.py",
        "        values.clear()\n",
        "",
        "tests/unit/rendering/test_no_state.py"
        "::test_a_cached_block_has_seen_nothing_of_the_block_before_it",
    ),
    Mutation(
        "a pushed template writes no day or time of any length",
        "adapters/rendering/sandbox/templates.py",
        "                    check_instant(each)\n",
        "                    pass\n",
        "tests/unit/templates/test_sandbox.py"
        "::test_attack_a_pushed_template_writes_no_day_or_time_of_any_length",
    ),
    Mutation(
        "a pushed template fills no text with many widths",
        "adapters/rendering/sandbox/sizes.py",
        " or _width(text) > LONGEST:\n",
        ":\n",
        "tests/unit/templates/test_sandbox.py"
        "::test_attack_a_pushed_template_makes_no_text_that_takes_the_memory",
    ),
    Mutation(
        "a pushed template calls only functions bounded by the sandbox",
        "adapters/rendering/sandbox/templates.py",
        '        del self.globals["_"]\n',
        "",
        "tests/unit/templates/test_sandbox.py"
        "::test_attack_a_template_calls_nothing_by_the_name_of_a_translation",
    ),
)
