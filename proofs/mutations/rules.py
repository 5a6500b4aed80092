"""The rules of delivery, such as the claim and the deadline, and how to remove each rule."""

from typing import Final

from proofs.mutations.mutation import Mutation

_SWAP_HOLDS = (
    "tests/contract/dynamodb/test_runs.py"
    "::test_swap_succeeds_only_if_the_run_is_unchanged_since_read"
)
_SUPPRESS = "tests/unit/subscribers/test_suppress.py"
_LINKS = "tests/unit/preferences/test_which_links_work.py"
_ACTORS = "tests/unit/ingest/test_amended_actors.py"
_CRITICAL = "tests/unit/routing/test_critical.py"
_LONG = "tests/unit/ingest/test_long_messages.py"
_LEAVING = "tests/unit/subscribers/test_leaving.py"
_IMMEDIATE = "tests/unit/routing/test_immediate.py"
_GROWING = "tests/unit/routing/test_growing.py"
_WAITS = "domain/scheduling/growing.py"
_HEADS = "tests/unit/delivery/test_heads.py"
_CHAIN = "domain/scheduling/chain.py"
_TAKING_BACK = "tests/unit/subscribers/test_taking_back.py"
_CONSENT = "tests/unit/subscribers/test_consent.py"
_RESUBSCRIBE = "tests/unit/subscribers/test_resubscribe.py"
_RETURN = "tests/unit/subscribers/test_return_reader.py"
_EXPORT = "tests/unit/support/test_export.py"
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
_WORTH = "tests/unit/delivery/test_worth.py"
_AGE = "tests/unit/ingest/test_age.py"
_KEEPING = "tests/unit/preferences/test_keeping.py"
_ODD_CLOCKS = "tests/contract/pacing/test_odd_clocks.py"
_PATIENCE = "tests/contract/outside/test_patience.py"
_RECEIPT = "tests/unit/support/test_receipt.py"
_REPORTS = "tests/unit/feedback/test_reports.py"
_DELIVERY_EVENTS = "tests/unit/api/test_delivery_events.py"
_RULE_OF_RECEIPTS = "domain/receipts/rule.py"
_MUTES = "domain/muting/mutes.py"
_MUTED = "tests/unit/routing/test_muted_things.py"
_MUTING = "tests/unit/preferences/test_muting.py"
_ALLOWED = "tests/unit/delivery/test_allowed_recipients.py"
_NEW_RULES = "tests/unit/fanout/test_new_zone_rules.py"
_NOT_ACKNOWLEDGED = (
    "tests/functions/test_acknowledging.py::test_message_is_not_acknowledged_if_its_commit_failed"
)

_SEEN = "tests/unit/delivery/test_seen.py"
_SEEN_MARKS = "tests/contract/dynamodb/test_seen_marks.py"

RULES: Final = (
    Mutation(
        "a claim succeeds only on the row as it was read",
        "adapters/dynamodb/runs.py",
        "put_or_current(run_row(after, retention=self._retention), row_as_read(before))",
        "put_or_current(\n"
        "            run_row(after, retention=self._retention), RunRow.user_id.exists()\n"
        "        )",
        "tests/contract/dynamodb/test_runs.py::test_failed_swap_returns_the_stored_run",
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
        "tests/contract/dynamodb/test_runs.py::test_swap_overwrites_no_concurrent_write",
    ),
    Mutation(
        "a decoded row has its values validated",
        "adapters/dynamodb/values.py",
        "    if not least <= number <= most:\n",
        "    if number < -MANY:\n",
        _NEWER_ROWS + "::test_trace_u_undecodable_row_is_reported_and_skipped",
    ),
    Mutation(
        "a decoded run has the key of its row",
        "adapters/dynamodb/runs.py",
        "    if run_sort_key(key) != row.run or not 0 <= key.sequence <= LAST_SEQUENCE:\n",
        "    if not 0 <= key.sequence <= LAST_SEQUENCE:\n",
        _NEWER_ROWS + "::test_trace_u_run_with_an_invalid_key_blocks_no_run",
    ),
    Mutation(
        "a failure of one schedule does not stop its shard",
        "steps/fanout/fanout.py",
        '            with of_one_row("schedules", schedule.user_id, schedule.name):\n'
        "                yield\n",
        "            yield\n",
        _ONE_ROW + "::test_fan_out_starts_all_readable_schedules_and_records_the_slot",
    ),
    Mutation(
        "a failure of one run does not stop the sweep",
        "steps/sweep/sweep.py",
        '            with of_one_row("runs", *_key_of(run)):\n',
        "            if run:\n",
        _ONE_ROW + "::test_sweep_processes_all_readable_runs",
    ),
    Mutation(
        "a failure of one schedule does not stop the audit",
        "steps/sweep/audit.py",
        '            with of_one_row("schedules", schedule.user_id, schedule.name):\n',
        "            if schedule:\n",
        _ONE_ROW + "::test_audit_arms_all_readable_schedules",
    ),
    Mutation(
        "a failure of one schedule does not leave another idle",
        "steps/subscribers/schedules.py",
        "            if not is_of_one_row(err):\n"
        "                raise\n"
        "            failed.append(err)\n",
        "            raise\n",
        _ONE_ROW + "::test_arming_continues_after_a_failing_schedule",
    ),
    Mutation(
        "a claim that carries succeeds only on the rows as they were read",
        "adapters/dynamodb/runs.py",
        "                        writes.save(row, row_as_read(before))\n",
        "                        writes.save(row)\n",
        "tests/contract/dynamodb/test_runs_together.py::test_no_run_is_swapped_if_any_has_changed",
    ),
    Mutation(
        "a claim that carries also checks a run that stays unchanged",
        "adapters/dynamodb/runs.py",
        "                            condition=run_as_read(before),\n",
        "                            condition=RunRow.user_id.exists(),\n",
        "tests/contract/dynamodb/test_runs_together.py"
        "::test_changed_run_that_was_only_checked_fails_the_swap",
    ),
    Mutation(
        "a worker that finds another's claim does not send",
        "steps/runs.py",
        "            return stored if stored.is_claimed_like(claimed) else None\n",
        "            return stored\n",
        "tests/unit/delivery/test_deliver.py::test_earlier_claim_by_another_worker_wins",
    ),
    Mutation(
        "time left and deadline are checked right before the call",
        "steps/delivery/deliver.py",
        "        time_left() < limits.send_timeout + limits.commit_margin\n"
        "        or run.deadline is None\n"
        "        or context.clock() + limits.send_timeout > run.deadline\n",
        "        not run.deadline\n",
        "tests/unit/delivery/test_deliver.py"
        "::test_trace_i_worker_without_time_after_claim_does_not_send",
    ),
    Mutation(
        "deferring events of a held category makes claims on an older read fail",
        "adapters/dynamodb/deferred_events.py",
        "                    raise_epoch(run, writes)\n",
        "",
        "tests/contract/dynamodb/test_deferred_events.py"
        "::test_deferred_event_leaves_the_window_and_fails_an_open_claim",
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
        "a decision based on an outdated read is not stored",
        "steps/runs.py",
        "        if runs.swap(before, after) != after:\n",
        "        if not runs.swap(before, after):\n",
        "tests/unit/delivery/test_deliver.py"
        "::test_older_run_sent_before_cancellation_closes_its_window",
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
        "the SES client makes one attempt",
        "adapters/mail/ses.py",
        "read.total_seconds(), attempts=1)",
        "read.total_seconds(), attempts=3)",
        "tests/contract/outside/test_ses_outcomes.py"
        "::test_lost_response_is_uncertain_after_a_single_request",
    ),
    Mutation(
        "the DynamoDB client makes one attempt to write an event",
        "adapters/dynamodb/events.py",
        "read=timeout * 2 / 3, attempts=1)",
        "read=timeout * 2 / 3, attempts=3)",
        _PATIENCE + "::test_event_write_that_times_out_is_not_repeated_by_the_client",
    ),
    Mutation(
        "a transaction of events is made by the client that makes one attempt",
        "adapters/dynamodb/events.py",
        "            with transaction(self._writes) as writes:\n"
        "                for stored in all_stored:\n"
        "                    writes.save(",
        "            with transaction(EventRow) as writes:\n"
        "                for stored in all_stored:\n"
        "                    writes.save(",
        _PATIENCE + "::test_each_write_of_an_event_is_a_single_request",
    ),
    Mutation(
        "an adapter keeps its attempts and time-outs when another adapter of its table is built",
        "adapters/dynamodb/client.py",
        "        variant = _variant(model, patience, connections)\n",
        "        variant = model\n",
        _PATIENCE + "::test_adapters_of_a_table_keep_their_patience_in_any_order",
    ),
    Mutation(
        "a process uses one table for each model",
        "adapters/dynamodb/client.py",
        "bound.connection._client is sends:\n",
        "bound.connection._client is sends and bound.table_name == table_name:\n",
        _PATIENCE + "::test_process_uses_one_table_for_each_model",
    ),
    Mutation(
        "a batch that would lose keys is not sent",
        "adapters/dynamodb/client.py",
        "    if any(models[model.Meta.table_name] is not model for model, _ in keys):\n",
        "    if not keys:\n",
        _PATIENCE + "::test_batch_reads_each_table_with_one_class",
    ),
    Mutation(
        "any failure before an SMTP server has the message is a rejection",
        "adapters/mail/smtp.py",
        "            self.connection.login(self.server.username, self.server.password)\n"
        "        except Exception as err:",
        "            self.connection.login(self.server.username, self.server.password)\n"
        "        except smtplib.SMTPException as err:",
        "tests/contract/outside/test_smtp_refusals.py"
        "::test_exception_before_the_final_dot_is_a_certain_refusal",
    ),
    Mutation(
        "a failure after an SMTP server may have the message is uncertain",
        "adapters/mail/smtp.py",
        "            return Uncertain(self.number, _name(err))\n",
        "            return RefusedForNow(self.number, _name(err))\n",
        "tests/contract/outside/test_smtp_refusals.py"
        "::test_exception_after_the_final_dot_is_uncertain",
    ),
    Mutation(
        "any failure before SES gets a request is a rejection",
        "adapters/mail/ses.py",
        "            if _unsent.get():\n                return _not_sent(err, attempt)\n",
        "",
        "tests/contract/outside/test_ses_outcomes.py"
        "::test_exception_before_the_request_is_a_certain_refusal",
    ),
    Mutation(
        "if a connection through a proxy is lost, the request may have been forwarded",
        "adapters/mail/ses.py",
        "        return isinstance(cause, NewConnectionError | SlowToConnect)\n",
        "        return cause is not None\n",
        "tests/contract/outside/test_ses_proxy.py"
        "::test_connection_lost_behind_a_proxy_is_uncertain_after_the_request",
    ),
    Mutation(
        "a failure after SES may have a request is uncertain",
        "adapters/mail/ses.py",
        '    """Record that botocore is about to send the request."""\n    _unsent.set(False)\n',
        '    """Record that botocore is about to send the request."""\n',
        "tests/contract/outside/test_ses_outcomes.py"
        "::test_exception_after_the_request_is_uncertain",
    ),
    Mutation(
        "a rejected MAIL command affects the stream, not a run",
        "adapters/mail/smtp_replies.py",
        "(is_permanent and stage in _BEFORE_RCPT)",
        "(is_permanent and stage is Stage.CONNECTION)",
        "tests/contract/outside/test_smtp_replies.py::test_each_smtp_reply_is_attributed_to_its_cause",
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
        "tests/functions/test_handlers.py"
        "::test_failing_message_is_retried_without_repeating_the_batch",
    ),
    Mutation(
        "messages whose events are routed together fail independently",
        "steps/routing/route.py",
        "        if len(parts) == 1:\n",
        "        if True:\n",
        "tests/unit/ingest/test_together.py::test_failure_for_single_reader_retries_only_affected_message",
    ),
    Mutation(
        "no event is routed before an earlier message that concerns its reader",
        "steps/ingest/order.py",
        "        if not readers.isdisjoint(step.readers):\n",
        "        if False:\n",
        "tests/unit/ingest/test_together.py::test_event_never_overtakes_command_for_same_reader",
    ),
    Mutation(
        "no message overtakes an activity",
        "steps/ingest/order.py",
        "        if None in readers or None in step.readers:\n",
        "        if False:\n",
        "tests/unit/ingest/test_together.py::test_command_never_overtakes_an_activity",
    ),
    Mutation(
        "the commands of one reader are applied in order",
        "steps/ingest/order.py",
        "    step.by_reader.setdefault(reader, []).append(part)\n",
        "    step.by_reader.setdefault(reader, []).insert(0, part)\n",
        "tests/unit/ingest/test_lists.py"
        "::test_items_of_one_reader_are_applied_in_the_order_of_the_list",
    ),
    Mutation(
        "an item of a list that fails retries its message",
        "steps/ingest/ingest.py",
        "    if errors:\n",
        "    if len(errors) == len(outcomes):\n",
        "tests/unit/ingest/test_lists.py"
        "::test_failing_item_retries_its_message_and_loses_no_other_item",
    ),
    Mutation(
        "the invalid items of a list are quarantined",
        "steps/ingest/ingest.py",
        "not isinstance(command, CreateEvents | CommandList)",
        "not isinstance(command, CreateEvents)",
        "tests/unit/ingest/test_lists.py"
        "::test_invalid_items_are_quarantined_after_the_valid_ones_are_applied",
    ),
    Mutation(
        "a waiting message is returned to its queue",
        "observability.py",
        "            _report(message, err)\n            if isinstance(err, Hidden):\n",
        "            _report(message, err)\n"
        "            handled[number] = isinstance(err, NotYet)\n"
        "            if isinstance(err, Hidden):\n",
        "tests/functions/delivery/test_outcomes.py"
        "::test_temporarily_refused_run_moves_to_the_resend_queue_and_is_hidden",
    ),
    Mutation(
        "a delivery event counts as proof only after its run is settled",
        "steps/feedback/feedback.py",
        "    run = context.runs.get(event.run) if event.run else None\n",
        "    context.evidence_log.record(event.sent_at)\n"
        "    run = context.runs.get(event.run) if event.run else None\n",
        "tests/unit/feedback/test_feedback.py"
        "::test_delivery_event_receipt_is_recorded_after_run_is_settled",
    ),
    Mutation(
        "an event that is redriven to the feedback queue returns to the quarantine",
        "steps/feedback/feedback.py",
        "        context.quarantine.keep(body, str(err))\n        return None\n",
        "        del err\n        return None\n",
        "tests/unit/feedback/test_feedback.py"
        "::test_misdirected_service_event_returns_to_quarantine",
    ),
    Mutation(
        "feedback rejects an event from a source other than SES",
        "adapters/mail/ses_events.py",
        "    if isinstance(source, str) and source != _SOURCE:\n",
        "    if source is None:\n",
        "tests/unit/feedback/test_ses_events.py::test_service_event_is_rejected_with_its_source",
    ),
    Mutation(
        "a delivery report needs a proof",
        "domain/feedback/reports.py",
        "    if not prover.is_proven(reference, report.recipient):\n",
        "    if not reference.proof:\n",
        f"{_REPORTS}::test_attack_altered_reference_is_rejected",
    ),
    Mutation(
        "the proof of a delivery report includes the recipient",
        "domain/feedback/reports.py",
        '        text = f"{self.installation} {named} {recipient}"\n',
        '        text = f"{self.installation} {named}"\n        del recipient\n',
        f"{_REPORTS}::test_attack_reference_cannot_suppress_another_address",
    ),
    Mutation(
        "the proof of a delivery report includes the installation",
        "domain/feedback/reports.py",
        '        text = f"{self.installation} {named} {recipient}"\n',
        '        text = f"{named} {recipient}"\n',
        f"{_REPORTS}::test_attack_reference_of_another_installation_is_rejected",
    ),
    Mutation(
        "feedback checks the source of a delivery report",
        "adapters/contract/reports.py",
        '    if refusal := sources.refusal(DELIVERY_REPORTED, envelope["source"]):\n',
        '    if refusal := sources.refusal("", envelope["source"]):\n',
        f"{_REPORTS}::test_attack_unproven_report_changes_nothing_and_waits_in_quarantine",
    ),
    Mutation(
        "no event on the bus can pretend to come from the API",
        "adapters/contract/envelope.py",
        "    return isinstance(envelope, dict) and envelope.get(_ROUTE) == _REPORTED_BY\n",
        '    return envelope.get("source") == "gazette.services"\n',
        f"{_REPORTS}::test_attack_event_on_the_bus_cannot_pretend_to_come_from_the_api",
    ),
    Mutation(
        "the API accepts a delivery event only once it is stored",
        "steps/api/delivery_events.py",
        "    return Submitted.STORED if is_stored else Submitted.NOT_STORED\n",
        "    return Submitted.STORED\n",
        f"{_DELIVERY_EVENTS}::test_delivery_event_that_the_queue_rejects_is_not_accepted",
    ),
    Mutation(
        "a rejection after a repetition is not certain",
        "adapters/aws/intake.py",
        '    return status < _SERVER_ERROR and not about.get("RetryAttempts", 0)\n',
        "    return status < _SERVER_ERROR\n",
        "tests/contract/outside/test_queues.py"
        "::test_message_without_a_certain_answer_may_be_queued",
    ),
    Mutation(
        "a reported click is activity in every stage",
        "steps/feedback/feedback.py",
        "    if event.type in context.signs_of_life or _is_reported_click(event):\n",
        "    if event.type in context.signs_of_life:\n",
        f"{_DELIVERY_EVENTS}::test_click_is_activity_in_every_stage",
    ),
    Mutation(
        "a stage without an entry in sources accepts no delivery reports",
        "domain/sources.py",
        "        if allowed is None and detail_type == DELIVERY_REPORTED:\n",
        "        if allowed is None and not detail_type:\n",
        f"{_REPORTS}::test_stage_that_lists_no_source_quarantines_every_report",
    ),
    Mutation(
        "a bounce does not stand for the acceptance of its email",
        "domain/feedback/delivery_events.py",
        "    if not event.is_reported or event.type not in _ARRIVED:\n",
        "    if not event.is_reported or event.type is DeliveryEventType.SENT:\n",
        f"{_REPORTS}::test_service_that_reports_only_bounces_holds_no_category",
    ),
    Mutation(
        "an arrival stands for the acceptance of its email",
        "steps/feedback/feedback.py",
        "        _record_acceptance(event, recorded.run, context=context)\n",
        "        pass\n",
        f"{_REPORTS}::test_only_an_arrival_stands_for_the_acceptance",
    ),
    Mutation(
        "a reported soft bounce does not count as an email that arrived",
        "steps/feedback/bounces.py",
        "        and messages.isdisjoint(reported_ids(run.key, run.attempt))\n",
        "",
        f"{_REPORTS}::test_consecutive_soft_bounces_suppress_although_the_server_gave_other_ids",
    ),
    Mutation(
        "an event that happened before its email was sent gets the time of sending",
        "domain/feedback/reports.py",
        "        at=max(report.at, reference.sent_at),\n",
        "        at=report.at,\n",
        f"{_REPORTS}::test_event_from_before_the_sending_has_the_time_of_sending",
    ),
    Mutation(
        "a retraction raises the epoch of the open runs",
        "steps/routing/reroute.py",
        "    if trace and trace.schedule:\n",
        "    if trace and not trace:\n",
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
        "an erasure deletes the events",
        "steps/ingest/erasure.py",
        "    after = context.events.erase(user_id, until)\n",
        '    after = ""\n',
        "tests/unit/ingest/test_profiles.py::test_attack_tables_contain_no_personal_data_after_erasure",
    ),
    Mutation(
        "an erasure deletes all pages of events",
        "steps/ingest/erasure.py",
        "    while after:\n",
        "    while not after and after:\n",
        f"{_LONG}::test_erasure_of_4000_events_and_follows_takes_single_receive",
    ),
    Mutation(
        "the events of a late follow are read again afterwards",
        "steps/ingest/late_follow.py",
        "            if isinstance(each, Activity) and not each.has_content_of(keys[key])\n",
        "            if isinstance(each, Activity) and False\n",
        f"{_LONG}::test_changes_during_late_follow_take_effect",
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
        "the rest of an interrupted late follow goes to the followers queue",
        "steps/ingest/activities.py",
        "            followers_queue.send(page_of(follow, each)"
        " for each in readable(chain(some, later)))\n",
        "            break\n",
        f"{_LONG}::test_slow_late_follow_continues_on_followers_queue",
    ),
    Mutation(
        "a page of one follower contains no other reader",
        "steps/ingest/late_follow.py",
        """{'~' * 65}" if last""",
        """" if last""",
        f"{_LONG}::test_slow_late_follow_continues_on_followers_queue",
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
        "the conditions of a transaction use the epochs that the previous transaction wrote",
        "domain/ports/stores.py",
        "            open_runs=tuple(replace(run, epoch=run.epoch + 1) "
        "for run in self.open_runs),\n",
        "",
        "tests/contract/dynamodb/test_leaving.py"
        "::test_raised_guard_is_valid_for_the_next_transaction",
    ),
    Mutation(
        "processing of a list stops before its invocation times out",
        "steps/routing/route.py",
        "        require_time(time_left, least=PIECE if entry.list.is_begun else LONGEST)\n",
        "        if not entry.list.is_begun:\n            require_time(time_left)\n",
        f"{_LONG}::test_list_processing_stops_before_invocation_ends",
    ),
    Mutation(
        "a message uses no more than its share of the invocation's time",
        "steps/time_budget.py",
        "    return lambda: time_left() - behind\n",
        "    return lambda: behind + LONGEST\n",
        f"{_LONG}::test_late_follow_leaves_time_for_other_messages_in_batch",
    ),
    Mutation(
        "a page of follows can be saved even if it now ends at another follow",
        "steps/preferences/page.py",
        "    return replace(overview, follows=(*overview.follows, *others))\n",
        "    return overview\n",
        "tests/unit/preferences/test_page.py"
        "::test_shown_follow_is_saved_after_page_boundaries_move",
    ),
    Mutation(
        "an erasure ends the runs",
        "steps/ingest/erasure.py",
        "    for run in under_way if erased else ():\n",
        "    for run in under_way if not erased else ():\n",
        "tests/unit/ingest/test_profiles.py"
        "::test_attack_tables_contain_no_personal_data_after_erasure",
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
        "no digest is due in a pause",
        "domain/scheduling/calendar.py",
        "    if recurrence.paused_until:\n        day = max(day, recurrence.paused_until)\n",
        "",
        "tests/unit/subscribers/test_pause.py"
        "::test_pause_schedules_no_digest_and_waiting_events_share_an_email",
    ),
    Mutation(
        "if new time zone rules moved the last digest, the next digest is on another date",
        "steps/occurrences/start.py",
        "    return next_on_another_date(schedule.recurrence, after=due_at, last=due_at)\n",
        "    return next_on_another_date(schedule.recurrence, after=due_at, last=None)\n",
        "tests/unit/fanout/test_fanout.py::test_unknown_time_zone_is_treated_as_utc",
    ),
    Mutation(
        "an occurrence is not started if its date has already had a digest",
        "domain/scheduling/calendar.py",
        "    if _is_on(day, recurrence) and (had is None or day > had):\n",
        "    if _is_on(day, recurrence):\n",
        _NEW_RULES + "::test_zone_change_sends_no_second_digest_late_on_same_date",
    ),
    Mutation(
        "a date to which the clocks return has no second digest",
        "domain/scheduling/calendar.py",
        "    if _is_on(day, recurrence) and (had is None or day > had):\n",
        "    if _is_on(day, recurrence) and day != had:\n",
        _NEW_RULES + "::test_date_to_which_the_clocks_return_has_no_second_digest",
    ),
    Mutation(
        "an occurrence that new time zone rules moved before its day waits for that day",
        "domain/scheduling/calendar.py",
        "    return due if due - armed_for < _MOVED_BY else armed_for\n",
        "    return armed_for\n",
        _NEW_RULES + "::test_occurrence_moved_before_its_day_waits_for_that_day",
    ),
    Mutation(
        "an occurrence that new time zone rules moved after its day is not lost",
        "domain/scheduling/calendar.py",
        "        return due if has_been else armed_for\n",
        "        return due\n",
        _NEW_RULES + "::test_digest_moved_past_its_day_is_sent_late",
    ),
    Mutation(
        "an occurrence that is moved uses up its sequence",
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
        "tests/unit/subscribers/test_sunset.py::test_inactive_reader_is_removed_from_the_due_index",
    ),
    Mutation(
        "a dormant reader who becomes active gets digests again",
        "steps/subscribers/sunset.py",
        "    set_schedules(resumed, context=context, resumes=True)\n",
        "",
        "tests/unit/subscribers/test_sunset.py"
        "::test_interrupted_resume_is_complete_after_a_repetition",
    ),
    Mutation(
        "an event past its TTL does not count as waiting",
        "adapters/dynamodb/events.py",
        "            return any(True for _ in _kept(rows, now))\n",
        "            return any(True for _ in rows)\n",
        "tests/contract/dynamodb/test_windows.py"
        "::test_expired_event_is_readable_until_the_next_run",
    ),
    Mutation(
        "a stale entry of the due index is ignored",
        "steps/fanout/fanout.py",
        "            elif self._is_due(row):\n                yield row\n",
        "            else:\n                yield row\n",
        "tests/unit/fanout/test_fanout.py::test_stale_due_index_entry_is_ignored",
    ),
    Mutation(
        "the audit skips events stored within the last hour",
        "steps/sweep/audit.py",
        "    until = context.clock() - _ON_ITS_WAY\n",
        "    until = context.clock()\n",
        "tests/unit/sweep/test_audit.py::test_audit_skips_events_of_the_last_hour",
    ),
    Mutation(
        "the audit skips events that an open run may still send",
        "steps/sweep/audit.py",
        "    return all(run.status.is_final for run in chain) and context",
        "    return context",
        "tests/unit/sweep/test_audit.py::test_audit_skips_events_of_open_runs",
    ),
    Mutation(
        "no policy decides while a delivery event may arrive",
        "steps/sweep/unknown.py",
        "    if context.clock() < gone_since + context.limits.evidence_grace:\n",
        "    if False:\n",
        f"{_SWEEP}::test_unknown_run_is_unchanged_while_its_delivery_event_may_arrive",
    ),
    Mutation(
        "an immediate event that is assumed sent starts no run",
        "steps/sweep/unknown.py",
        "    if _is_carried(decided) and run.key.is_immediate:\n",
        "    if run.key.is_immediate:\n",
        f"{_SWEEP}::test_immediate_run_assumed_sent_starts_no_run",
    ),
    Mutation(
        "a resent run does not wait for proof",
        "steps/sweep/unknown.py",
        "    if policy is Policy.RESEND and not run.resent:\n",
        "    if policy is Policy.RESEND:\n",
        f"{_SWEEP}::test_resent_run_does_not_wait_for_proof_of_delivery_events",
    ),
    Mutation(
        "the sweep checks a decided run again later",
        "steps/sweep/unknown.py",
        "    decided = replace(decided, check_at=context.clock() + context.limits.check_after)\n",
        "",
        f"{_SWEEP}::test_unknown_outcome_waits_for_evidence_until_the_grace_ends",
    ),
    Mutation(
        "each sweep audits a different part of the schedules",
        "steps/sweep/audit.py",
        "        number * partitions + partition, partitions",
        "        number * partitions, partitions",
        "tests/unit/sweep/test_audit.py::test_each_idle_schedule_is_audited_once_in_thirty_days",
    ),
    Mutation(
        "fan-out does not visit a new reader before an event is waiting",
        "steps/subscribers/schedules.py",
        "        state=ScheduleState.ARMED if sources else ScheduleState.IDLE,\n",
        "",
        "tests/unit/routing/test_arming.py::test_new_reader_without_waiting_events_is_not_visited",
    ),
    Mutation(
        "consecutive soft bounces suppress a reader who gets few emails",
        "steps/feedback/bounces.py",
        "    return limit.is_reached_in_a_row(sent, arrived)\n",
        "    return False\n",
        f"{_SUPPRESS}::test_reader_with_only_bounces_is_suppressed_at_any_frequency",
    ),
    Mutation(
        "a delivered email resets the count of consecutive soft bounces",
        "steps/feedback/bounces.py",
        "    return limit.is_reached_in_a_row(sent, arrived)\n",
        "    return limit.is_reached_in_a_row(sent, ())\n",
        f"{_SUPPRESS}::test_delivered_email_resets_the_bounce_streak",
    ),
    Mutation(
        "a reader who becomes the actor of an activity does not get it",
        "domain/subscribers/following.py",
        "    if event.is_own_activity:\n        return None\n",
        "",
        f"{_ACTORS}::test_reader_who_becomes_actor_gets_no_email",
    ),
    Mutation(
        "an amended activity also reaches its actor",
        "domain/subscribers/following.py",
        "        return not is_actor or self.amended_at is not None\n",
        "        return not is_actor\n",
        f"{_ACTORS}::test_retraction_reaches_reader_who_became_actor",
    ),
    Mutation(
        "a copy of an amended event is amended unless it is withdrawn",
        "steps/routing/route.py",
        "        if not is_amended or context.events.amend(current, event):\n",
        "        if current:\n",
        f"{_ACTORS}::test_possibly_sent_copy_is_updated_by_amendment",
    ),
    Mutation(
        "a late follow finds activities that an amendment moved away from the entity",
        "domain/subscribers/following.py",
        "        return side in self.former or (",
        "        return (",
        f"{_ACTORS}::test_crashed_late_follow_leaves_no_event_of_moved_activity",
    ),
    Mutation(
        "an activity is stored for as long as one of its events may wait",
        "bootstrap/parts/routing.py",
        "        retention=longest_life(settings.event_retention),\n",
        "        retention=settings.event_retention,\n",
        "tests/functions/ingest/test_activities.py::test_activity_is_kept_as_long_as_its_events",
    ),
    Mutation(
        "a link is invalid once the reader's address has changed",
        "domain/links.py",
        "            and self.since == reader.addressed_after\n",
        "",
        f"{_LINKS}::test_attack_former_address_owner_cannot_change_choices",
    ),
    Mutation(
        "a link is valid only for the address that it was sent to",
        "domain/links.py",
        "            and self.address == address_hash(reader.email)\n",
        "",
        f"{_LINKS}::test_attack_momentary_address_owner_cannot_change_choices",
    ),
    Mutation(
        "a link is invalid after an erasure",
        "steps/ingest/profiles.py",
        "                addressed_after=erased_at,\n",
        "",
        f"{_LINKS}::test_attack_former_owner_of_id_cannot_change_choices",
    ),
    Mutation(
        "a link expires",
        "adapters/web/links.py",
        "        if link.has_expired(purpose, self._clock().date()):\n",
        "        if False:\n",
        f"{_LINKS}::test_attack_expired_link_opens_no_page",
    ),
    Mutation(
        "a link with an unknown scope is rejected",
        "domain/links.py",
        "    if not _SCOPE.fullmatch(text):\n",
        "    if False:\n",
        f"{_LINKS}::test_link_with_unknown_scope_does_not_unsubscribe_from_everything",
    ),
    Mutation(
        "an undo is valid only for its own link",
        "adapters/web/undo.py",
        "        if of != link or act",
        "        if act",
        f"{_LEAVING_PAGES}::test_attack_undo_token_reverts_only_its_own_link",
    ),
    Mutation(
        "an undo expires after a day",
        "adapters/web/undo.py",
        "        if self._clock() - at > UNDO_FOR:\n",
        "        if False:\n",
        f"{_LEAVING_PAGES}::test_attack_undo_expires_after_a_day",
    ),
    Mutation(
        "a reader who ends the digests still gets immediate email",
        "domain/subscribers/leaving.py",
        "    return often if often is Frequency.IMMEDIATE else Frequency.NEVER\n",
        "    return Frequency.NEVER\n",
        f"{_LEAVING}::test_opt_out_ends_only_the_events_in_its_scope",
    ),
    Mutation(
        "an undo of a pause restores the shorter pause before it",
        "domain/subscribers/taking_back.py",
        "was_paused or today\n",
        "today\n",
        f"{_TAKING_BACK}::test_undo_of_a_pause_restores_the_shorter_previous_pause",
    ),
    Mutation(
        "if a choice ends and is made again, only the later choice is kept",
        "domain/subscribers/choices.py",
        "        if at <= until:\n            standing",
        "        if True:\n            standing",
        "tests/unit/subscribers/test_ended_choices.py"
        "::test_only_the_latest_of_overridden_and_repeated_choices_is_kept",
    ),
    Mutation(
        "leaving the digests also applies to follows with their own frequency",
        "domain/subscribers/leaving.py",
        "_choice(reader, _no_digest, defaults), _own(known, _no_digest))",
        "_choice(reader, _no_digest, defaults))",
        f"{_LEAVING}::test_opt_out_ends_only_the_events_in_its_scope",
    ),
    Mutation(
        "an undo leaves no choice if there was none before",
        "domain/subscribers/taking_back.py",
        "then.get(EVERYTHING, DEFAULT)",
        "then.get(EVERYTHING, now[EVERYTHING])",
        f"{_LEAVING}::test_undo_restores_the_previous_state",
    ),
    Mutation(
        "a profile keeps the time at which its reader unsubscribed",
        "steps/ingest/profiles.py",
        "        left_at=current.left_at,\n",
        "        left_at=given.left_at,\n",
        f"{_TAKING_BACK}::test_profile_after_a_second_opt_out_does_not_reenable_an_old_undo",
    ),
    Mutation(
        "a choice that the service ended does not return after later profiles",
        "steps/ingest/profiles.py",
        "(service, _choices_left(current, service))",
        "(service, current.reader_choices)",
        "tests/unit/subscribers/test_ended_choices.py"
        "::test_overridden_choice_stays_inactive_after_many_profiles",
    ),
    Mutation(
        "a form that is shown again with problems keeps its original values",
        "adapters/rendering/preference_page.py",
        'sent["was"][0] if "was" in sent else written_fields(current)',
        "written_fields(current)",
        "tests/unit/rendering/test_preference_page.py"
        "::test_form_with_problems_keeps_the_originally_shown_values",
    ),
    Mutation(
        "after a rollback, the older version reads the same choices",
        "domain/subscribers/whole_maps.py",
        "    instants = chosen_at | {at for at, _ in without_repeats(by_service)}\n",
        "    instants = chosen_at\n",
        f"{_BY_CATEGORY}::test_previous_version_reads_the_same_choices_after_a_rollback",
    ),
    Mutation(
        "choices that the older version writes after a rollback are effective",
        "adapters/dynamodb/histories.py",
        "        if digest == _digest(maps):\n",
        "        if digest:\n",
        "tests/contract/dynamodb/test_former_choices.py"
        "::test_current_and_previous_version_can_alternate_on_a_row",
    ),
    Mutation(
        "early choices are replaced only if both attributes are unchanged",
        "adapters/dynamodb/subscribers.py",
        "zip(_EARLY, _as_stored(reader), strict=True)",
        "zip(_EARLY[:1], _as_stored(reader))",
        "tests/contract/dynamodb/test_former_choices.py"
        "::test_early_choices_are_replaced_only_if_both_attributes_are_unchanged",
    ),
    Mutation(
        "ingest applies only the changed fields of a choice from the page",
        "adapters/contract/decoding.py",
        "        return narrowed(command, fields)\n",
        "        return command\n",
        "tests/contract/outside/test_bus.py::test_category_choice_is_sent_as_a_map_and_a_patch",
    ),
    Mutation(
        "a link with a smaller scope is valid for the address that it was sent to",
        "steps/preferences/leaving.py",
        "if isinstance(reader, Subscriber) and is_at(reader, link.address) else None",
        "if isinstance(reader, Subscriber) else None",
        f"{_LEAVING}::test_link_for_a_former_address_changes_no_choice",
    ),
    Mutation(
        "no two readers share a thread",
        "steps/delivery/edition.py",
        '_message_id(f"{run.key.user_id} {run.key.schedule}", list_id)',
        "_message_id(run.key.schedule, list_id)",
        "tests/unit/delivery/test_headers.py::test_readers_entities_and_lists_never_share_a_thread",
    ),
    Mutation(
        "a reader's activity at another address does not affect this one",
        "steps/subscribers/unsubscribe.py",
        " or not is_at(reader, address):\n            return reader\n        status",
        ":\n            return reader\n        status",
        "tests/unit/subscribers/test_unsubscribe.py"
        "::test_unsubscribe_holds_if_the_id_is_reused_or_moves",
    ),
    Mutation(
        "a row that DynamoDB omits from a batch response is not treated as missing",
        "adapters/dynamodb/client.py",
        "    if left_out:\n        raise left_out\n",
        "",
        "tests/contract/dynamodb/test_left_out.py"
        "::test_unprocessed_key_is_retried_five_times_with_backoff",
    ),
    Mutation(
        "a run that DynamoDB omits from a batch response does not block later runs",
        "adapters/dynamodb/client.py",
        "        if left_out and not is_any_read:\n",
        "        if left_out:\n",
        "tests/contract/dynamodb/test_left_out.py"
        "::test_unprocessed_overdue_run_does_not_block_later_runs",
    ),
    Mutation(
        "a resubscription applies to the address of its link",
        "steps/subscribers/resubscribe.py",
        " or not is_at(reader, address):\n",
        ":\n",
        "tests/unit/subscribers/test_resubscribe.py"
        "::test_attack_former_owner_of_an_id_cannot_resubscribe_the_new_owner",
    ),
    Mutation(
        "a reader's own unsubscription remains after a stronger reason is removed",
        "adapters/dynamodb/feedback/suppressions.py",
        "        elif not written(row.delete, same & by.does_not_exist()):\n",
        "        elif not written(row.delete, same):\n",
        "tests/contract/feedback/test_suppressions.py"
        "::test_unsubscribe_is_remembered_behind_a_stronger_cause",
    ),
    Mutation(
        "a profile keeps the time at which its address was registered",
        "adapters/dynamodb/subscribers.py",
        "        if subscriber.addressed_after:\n",
        "        if False:\n",
        "tests/contract/dynamodb/test_subscribers.py::test_registration_time_of_an_address_is_kept",
    ),
    Mutation(
        "an erasure invalidates earlier links even if a later profile is stored first",
        "steps/ingest/erasure.py",
        "        _erase_before(user_id, at, context, time)\n",
        "",
        f"{_LINKS}::test_attack_erasure_invalidates_links_in_any_order",
    ),
    Mutation(
        "an erasure deletes earlier choices even if a later profile is stored first",
        "steps/ingest/erasure.py",
        "            reader.reader_choices.after(at),\n",
        "            reader.reader_choices,\n",
        "tests/unit/ingest/test_profiles.py::test_data_from_before_erasure_is_removed_in_any_order",
    ),
    Mutation(
        "a new link is sent only to the same registration",
        "steps/preferences/new_link.py",
        "    if not link.is_for_registration_of(reader):\n        return False\n",
        "",
        "tests/unit/preferences/test_new_link.py"
        "::test_attack_former_owner_of_id_cannot_request_new_link",
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
        "    if len(waiting) < _WAITING or waiting[0] != chain[0]:\n",
        "    if waiting is not None:\n",
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
        "    delay = min(_sent_at(run) - context.clock(), LONGEST_DELAY)\n",
        "    delay = _SPREAD\n",
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
        "a head covers no run that may still be sent",
        _CHAIN,
        "    if not run.status.is_final or now",
        "    if now",
        f"{_HEADS}::test_head_precedes_runs_that_may_still_change",
    ),
    Mutation(
        "a head covers no run that was just created",
        _CHAIN,
        " or now - (run.created_at or run.due_at) <= _CREATED:\n",
        ":\n",
        f"{_HEADS}::test_head_precedes_runs_that_may_still_change",
    ),
    Mutation(
        "a head covers no run with an uncertain attempt",
        _CHAIN,
        "    if run.uncertain:\n        return False\n",
        "",
        f"{_HEADS}::test_head_precedes_runs_that_may_still_change",
    ),
    Mutation(
        "a head covers no run that was refused within a day",
        _CHAIN,
        "    return run.attempt == 0 or now - claimed_at > _REFUSED\n",
        "    return True\n",
        f"{_HEADS}::test_head_precedes_runs_that_may_still_change",
    ),
    Mutation(
        "a head includes the runs sent after the previous head",
        _CHAIN,
        "    until = max(sent_until(settled), known_sent_until(chain))\n",
        "    until = sent_until(settled)\n",
        f"{_HEADS}::test_head_keeps_sent_time_of_previous_head",
    ),
    Mutation(
        "a short chain has no head",
        _CHAIN,
        "for run in settled) < page:\n",
        "for run in settled) < 1:\n",
        f"{_HEADS}::test_full_page_of_runs_has_head_with_sent_time",
    ),
    Mutation(
        "reading a chain up to an instant ignores heads of later runs",
        _CHAIN,
        "        if run.head and (holding is None or run.head.sent_until < holding):\n",
        "        if run.head:\n",
        f"{_HEADS}::test_run_chain_for_past_time_continues_beyond_later_head",
    ),
    Mutation(
        "reading a chain stops at its head",
        _CHAIN,
        "        if run.ends_chain(of, holding) or run.key.sequence == settled + 1:\n",
        "        if run.ends_chain(of, holding):\n",
        f"{_HEADS}::test_run_chain_reads_no_unnecessary_rows",
    ),
    Mutation(
        "events of runs that a head covers are not sent again",
        "domain/delivery/run.py",
        "        known_sent_until(chain),\n        *(run.window.until for",
        "        *(run.window.until for",
        f"{_HEADS}::test_run_chain_ends_at_newest_head",
    ),
    Mutation(
        "sent events of runs that a head covers do not move",
        "domain/delivery/run.py",
        "        known_sent_until(chain),\n        *(\n",
        "        *(\n",
        f"{_HEADS}::test_run_chain_ends_at_newest_head",
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
        "no run is created with a sequence before the newest",
        "steps/routing/immediate.py",
        "    if not chain or chain[0].key.sequence < new.key.sequence:\n",
        "    if chain is not None:\n",
        f"{_HEADS}::test_duplicate_of_old_event_creates_run_after_newest",
    ),
    Mutation(
        "a redrive also finds runs that a head covers",
        "steps/occurrences/redrive.py",
        "    if sent == BEGINNING or sent < until:\n",
        "    if not any(run.closes_a_window for run in chain):\n",
        f"{_HEADS}::test_redrive_finds_sent_email_before_head",
    ),
    Mutation(
        "fan-out stores a head with the run that it starts",
        "steps/occurrences/start.py",
        "        run = replace(run, head=head_for(chain, now))\n",
        "",
        f"{_CONTENT}::test_digest_without_new_items_reads_three_pages_of_runs",
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
        "a reader who unsubscribed gets only critical events",
        "domain/delivery/run.py",
        "    return reader.receives_critical if key.is_critical else reader.receives_email\n",
        "    return reader.receives_critical\n",
        f"{_CRITICAL}::test_noncritical_run_is_not_sent_after_unsubscribing_even_if_unsuppressed",
    ),
    Mutation(
        "bounces, complaints and operators stop critical events",
        "adapters/dynamodb/feedback/suppressions.py",
        "not (critical and row.reason == Cause.UNSUBSCRIBED.value)\n",
        "not critical\n",
        "tests/contract/feedback/test_suppressions.py"
        "::test_only_an_unsubscribe_allows_critical_email",
    ),
    Mutation(
        "only a reader who unsubscribed can undo the unsubscription",
        "steps/subscribers/resubscribe.py",
        "        suppressions.resubscribe(address, user_id, before=before)\n",
        "        suppressions.lift(address, suppressions.get(address).cause)\n",
        "tests/unit/subscribers/test_resubscribe.py"
        "::test_attack_reader_sharing_an_address_cannot_lift_anothers_opt_out",
    ),
    Mutation(
        "a consent lifts no unsubscription at its time or later",
        "domain/subscribers/consent.py",
        "        return not times or max(times) >= since\n",
        "        return not times\n",
        f"{_CONSENT}::test_unsubscription_at_the_consent_or_later_remains",
    ),
    Mutation(
        "a consent lifts no later unsubscription of the address alone",
        "domain/subscribers/consent.py",
        "    times = [suppression.last_left_at] if suppression else []\n",
        "    times = []\n",
        f"{_RETURN}::test_unsubscription_of_the_address_alone_is_compared_too",
    ),
    Mutation(
        "a consent may be an hour ahead of its arrival",
        "domain/subscribers/consent.py",
        "    if consent.stated_at - consent.arrived_at > AHEAD:\n",
        "    if False:\n",
        f"{_CONSENT}::test_consent_more_than_an_hour_ahead_is_refused",
    ),
    Mutation(
        "a consent counts from its arrival at the latest",
        "domain/subscribers/consent.py",
        "        return min(self.stated_at, arrived or self.arrived_at)\n",
        "        return min(self.stated_at, arrived or self.stated_at)\n",
        f"{_CONSENT}::test_consent_counts_from_its_arrival_at_the_latest",
    ),
    Mutation(
        "a repeated consent counts from its first arrival",
        "domain/subscribers/consent.py",
        "        arrived = reader.returned_at if self._is_known_to(reader) else None\n",
        "        arrived = None\n",
        f"{_RETURN}"
        "::test_attack_repeated_request_of_a_clock_that_is_ahead_lifts_no_later_unsubscription",
    ),
    Mutation(
        "a consent lifts no bounce, complaint or suppression by an operator",
        "domain/subscribers/consent.py",
        "    if suppression and suppression.cause is not Cause.UNSUBSCRIBED:\n",
        "    if False:\n",
        f"{_CONSENT}::test_consent_lifts_no_stronger_cause",
    ),
    Mutation(
        "a consent lifts no unsubscription of another reader of the address",
        "domain/subscribers/consent.py",
        "    if suppression and suppression.readers - {reader.user_id}:\n",
        "    if False:\n",
        f"{_RETURN}::test_attack_consent_lifts_no_unsubscription_of_another_reader",
    ),
    Mutation(
        "a consent is for the stored address",
        "domain/subscribers/consent.py",
        "    if address_hash(reader.email) != consent.address:\n",
        "    if False:\n",
        f"{_RETURN}::test_attack_consent_to_another_address_is_refused",
    ),
    Mutation(
        "a consent before an erasure does not count after it",
        "domain/subscribers/consent.py",
        "    if reader.erased_at and since <= reader.erased_at:\n",
        "    if False:\n",
        f"{_RETURN}::test_new_owner_of_an_id_is_returned_only_by_a_consent_after_the_erasure",
    ),
    Mutation(
        "an unsubscription of the address during a return remains",
        "steps/subscribers/resubscribe.py",
        "        suppressions.resubscribe(address, user_id, before=before)\n",
        "        suppressions.resubscribe(address, user_id)\n",
        f"{_RETURN}::test_unsubscription_of_the_address_during_a_return_takes_effect",
    ),
    Mutation(
        "a suppression is lifted by a consent only on the condition of its latest time",
        "adapters/dynamodb/feedback/suppressions.py",
        "            unsubscribed &= _left_before(before)\n",
        "            pass\n",
        "tests/contract/feedback/test_suppressions.py"
        "::test_consent_lifts_only_an_earlier_unsubscription",
    ),
    Mutation(
        "an unsubscription that is written late does not hide a later one",
        "adapters/dynamodb/feedback/suppressions.py",
        "        is_latest = last.does_not_exist() | (last <= at)\n",
        "        is_latest = SuppressionRow.address_hash.exists() | last.does_not_exist()\n",
        "tests/contract/feedback/test_suppressions.py"
        "::test_older_unsubscription_does_not_change_the_latest",
    ),
    Mutation(
        "a repeated unsubscription has a time of its own",
        "domain/subscribers/subscriber.py",
        "left_again_at=max(at, last + _NEXT) if at and last else at or last)\n",
        "left_again_at=self.left_again_at)\n",
        f"{_RETURN}::test_start_again_on_the_page_does_not_undo_an_unsubscription_during_it",
    ),
    Mutation(
        "a page names the latest unsubscription that it shows",
        "domain/subscribers/preference_form.py",
        "return reader.last_left_at.isoformat() if reader.last_left_at else ",
        "return reader.left_at.isoformat() if reader.left_at else ",
        f"{_RETURN}::test_start_again_on_the_page_does_not_undo_an_unsubscription_during_it",
    ),
    Mutation(
        "a resubscription notices a repeated unsubscription during it",
        "steps/subscribers/resubscribe.py",
        " or (reader.has_left and reader.last_left_at != first.last_left_at):\n",
        ":\n",
        f"{_RETURN}::test_undo_does_not_undo_an_unsubscription_during_it",
    ),
    Mutation(
        "an outdated erasure lifts only a suppression that it wrote",
        "steps/ingest/erasure.py",
        "        if isinstance(reader, Subscriber) and left_at:\n",
        "        if isinstance(reader, Subscriber):\n"
        "            left_at = left_at or context.clock()\n",
        f"{_RESUBSCRIBE}::test_outdated_erasure_keeps_an_unsubscription_of_the_address",
    ),
    Mutation(
        "an outdated erasure lifts no later unsubscription of the address",
        "steps/ingest/erasure.py",
        "                before=just_after(left_at),\n",
        "                before=None,\n",
        f"{_RESUBSCRIBE}::test_outdated_erasure_keeps_an_unsubscription_of_the_address_during_it",
    ),
    Mutation(
        "an unsubscription lifts no later unsubscription of the address",
        "steps/subscribers/unsubscribe.py",
        "        before=just_after(unsubscribed.last_left_at or at),\n",
        "        before=None,\n",
        f"{_RESUBSCRIBE}::test_unsubscribe_keeps_an_unsubscription_of_the_address_during_it",
    ),
    Mutation(
        "a resubscription lifts no unsubscription of the address that follows its lift",
        "steps/subscribers/resubscribe.py",
        "        until = before or just_after(max(start, reader.last_left_at or start))\n",
        "        until = before\n",
        f"{_RESUBSCRIBE}"
        "::test_resubscribe_keeps_an_unsubscription_of_the_address_that_follows_its_lift",
    ),
    Mutation(
        "a settled suppression that the reader's return overtook is lifted",
        "steps/subscribers/unsubscribe.py",
        "            before = _also_lifting(reader.last_left_at, before)\n",
        "",
        f"{_RESUBSCRIBE}::test_settling_lifts_what_it_wrote_itself",
    ),
    Mutation(
        "a refused return leaves the reader unsubscribed",
        "steps/subscribers/resubscribe.py",
        "                _restore(reader, context=context)\n",
        "                pass\n",
        f"{_RETURN}::test_refused_consent_leaves_the_reader_unsubscribed",
    ),
    Mutation(
        "an export names no other reader of an address",
        "steps/support/export.py",
        'own["by"] = [each for each in readers if each == user_id]\n',
        'own["by"] = readers\n',
        f"{_EXPORT}::test_suppression_does_not_name_other_readers_of_the_address",
    ),
    Mutation(
        "an export contains no emails from before an erasure",
        "steps/support/export.py",
        '        elif str(row.values.get("due_at", "")) > erased_at:\n',
        "        else:\n",
        f"{_EXPORT}::test_later_owner_of_an_id_gets_no_emails_from_before_the_erasure",
    ),
    Mutation(
        "an export ends when the reader is erased",
        "steps/support/export.py",
        ' and not profile.values.keys() <= {"user_id", "erased_at"}\n',
        "\n",
        f"{_EXPORT}::test_export_finds_no_row_after_an_erasure",
    ),
    Mutation(
        "an export finds the rows that an interrupted erasure left",
        "steps/support/export.py",
        "        place = Cursor(user_id, Part.SCHEDULES)\n",
        "        return ExportPage(user_id, (), None)\n",
        f"{_EXPORT}::test_export_finds_what_an_interrupted_erasure_left",
    ),
    Mutation(
        "a cursor of an export is refused for another reader",
        "domain/export.py",
        "if owner == user_id and _KEY",
        "if _KEY",
        f"{_EXPORT}::test_cursor_is_read_as_it_was_written",
    ),
    Mutation(
        "an unsubscribe link is valid only for its own address",
        "steps/subscribers/unsubscribe.py",
        " or not is_at(reader, address):\n            suppressions.add",
        ":\n            suppressions.add",
        "tests/unit/subscribers/test_unsubscribe.py"
        "::test_attack_link_for_a_former_address_cannot_unsubscribe_the_new_address",
    ),
    Mutation(
        "later attempts use the template version of the first claim",
        "domain/delivery/run.py",
        "        return self.templates if self.attempt else None\n",
        "        return None\n",
        "tests/unit/templates/test_runs.py"
        "::test_run_is_retried_with_the_version_of_its_first_claim",
    ),
    Mutation(
        "a template version is used only if its content is as pushed",
        "adapters/templates/library.py",
        "        if checksum_of(content) != version.checksum:\n",
        "        if False:\n",
        "tests/unit/templates/test_library.py::test_tampered_bundle_is_never_unpacked",
    ),
    Mutation(
        "a change is rejected if other versions came into force before it was confirmed",
        "cli/gazette_support/steps/templates.py",
        "    if seen is not None and current != seen:\n",
        "    if False:\n",
        f"{_CONFIRMED}::test_confirmation_is_rejected_after_a_concurrent_change",
    ),
    Mutation(
        "a push names the versions in force at its confirmation prompt",
        "cli/gazette_cli/templates/command.py",
        "            seen=before,\n        )\n",
        "        )\n",
        f"{_CONFIRMED}::test_confirmation_is_rejected_after_a_concurrent_change",
    ),
    Mutation(
        "a rollout names the versions in force at its confirmation prompt",
        "cli/gazette_cli/templates/command.py",
        "roll_out(percent, by=caller(), context=context, seen=before)",
        "roll_out(percent, by=caller(), context=context)",
        f"{_CONFIRMED}::test_confirmation_is_rejected_after_a_concurrent_change",
    ),
    Mutation(
        "a rollback names the versions in force at its confirmation prompt",
        "cli/gazette_cli/templates/command.py",
        "roll_back(to, by=caller(), context=context, seen=seen)",
        "roll_back(to, by=caller(), context=context)",
        f"{_CONFIRMED}::test_confirmation_is_rejected_after_a_concurrent_change",
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
        "a schedule with a content source does not skip an occurrence whose run is open",
        "steps/occurrences/start.py",
        "    elif not used.status.is_final:\n        return schedule\n",
        "",
        f"{_CONTENT}::test_occurrence_started_by_another_worker_is_not_skipped",
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
        "an occurrence whose sources returned no items is not started again",
        "steps/occurrences/start.py",
        "        sent_nothing = _SENT_NOTHING if self.waits else _NEVER_STARTED\n",
        "        sent_nothing = _SENT_NOTHING\n",
        f"{_CONTENT}::test_skipped_occurrence_is_not_started_again_after_crash",
    ),
    Mutation(
        "a schedule with a content source is always armed",
        "steps/fanout/fanout.py",
        "        if quiet.asks:\n",
        "        if False:\n",
        f"{_CONTENT}::test_schedule_stays_armed_after_a_year_without_items",
    ),
    Mutation(
        "items that are stale at the due time are fetched again",
        "domain/content/asking.py",
        " and now - fetched_at <= fresh_for\n",
        "\n",
        f"{_CONTENT}::test_stale_items_are_refetched_at_due_time",
    ),
    Mutation(
        "after a source is assigned to a reader, the profile is read again",
        "cli/gazette_support/steps/sources.py",
        "            if latest.is_unchanged_since(reader):\n",
        "            if latest:\n",
        "tests/unit/content/test_arming.py::test_content_is_not_fetched_after_category_is_muted",
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
        "a redriven run has the sources of its schedule",
        "steps/occurrences/redrive.py",
        "sources=schedule.sources if schedule else (),\n",
        "sources=(),\n",
        f"{_CONTENT}::test_empty_redriven_digest_reports_no_new_items",
    ),
    Mutation(
        "if two fetches differ, only the items that still wait are recorded as received",
        "steps/content/fetch.py",
        "        if schedule.fetched_at != read.fetched_at:\n",
        "        if False:\n",
        f"{_CONTENT}::test_concurrent_fetches_lose_no_items",
    ),
    Mutation(
        "a fetch is useful as long as the template version of its reader lets the digest wait",
        "steps/content/fetch.py",
        "    if waits <= context.useful_for:\n        return False\n",
        "    if True:\n        return waits > context.useful_for\n",
        "tests/functions/test_content.py"
        "::test_content_fetch_window_follows_the_policy_of_the_template_version",
    ),
    Mutation(
        "no thread waits longer for its permit than it requested",
        "adapters/dynamodb/pacing/pace.py",
        "        patience = min(",
        "        patience = max(",
        f"{_TOGETHER}::test_thread_deadline_is_not_extended_by_patient_threads",
    ),
    Mutation(
        "a thread's patience for a permit starts after its wait for other threads",
        "adapters/dynamodb/pacing/pace.py",
        "        latest = now + patience\n",
        "        latest = min(until for _, until in asked)\n",
        f"{_TOGETHER}::test_waiting_for_a_batch_does_not_shorten_the_permit_deadline",
    ),
    Mutation(
        "permits that are taken together do not exceed the daily cap",
        "adapters/dynamodb/pacing/pace.py",
        "PaceRow.taken <= reservation.cap - reservation.number\n",
        "PaceRow.taken < reservation.cap\n",
        f"{_TOGETHER}::test_threads_do_not_exceed_the_daily_cap_after_concurrent_permits",
    ),
    Mutation(
        "permits that are taken together do not exceed the account's quota",
        "adapters/dynamodb/pacing/pace.py",
        "PaceRow.left >= reservation.number\n",
        "PaceRow.left > 0\n",
        f"{_TOGETHER}::test_threads_do_not_exceed_the_account_quota_after_concurrent_permits",
    ),
    Mutation(
        "the last of several permits that are taken together is in time",
        "adapters/dynamodb/pacing/pace.py",
        "        last = latest - (reservation.number - 1) * reservation.cost\n",
        "        last = latest\n",
        f"{_TOGETHER}::test_last_batch_permit_is_on_time_despite_concurrent_permits",
    ),
    Mutation(
        "a permit that is a second old is not used",
        "steps/content/ask.py",
        "    if permit.is_probe or context.clock() - permit.at <= _IN_TIME:\n",
        "    if True:\n",
        "tests/unit/content/test_fetch.py::test_stalled_workers_do_not_exceed_request_rate",
    ),
    Mutation(
        "a request to a content source waits for its permit",
        "steps/content/ask.py",
        "        context.sleep(wait)\n",
        "        pass\n",
        f"{_ASK}::test_request_waits_for_its_permit",
    ),
    Mutation(
        "a request is not repeated once the budget is used up",
        "steps/content/ask.py",
        " or not context.health.now.may_retry\n",
        "\n",
        f"{_ASK}::test_request_is_not_retried_after_retry_budget_is_exhausted",
    ),
    Mutation(
        "only the response to a probe closes the circuit breaker of a content source",
        "steps/content/ask.py",
        "    if permit.is_probe:\n        with suppress",
        "    if True:\n        with suppress",
        f"{_ASK}::test_response_to_earlier_request_does_not_close_breaker",
    ),
    Mutation(
        "content is not fetched for a reader who has unsubscribed in the meantime",
        "steps/content/fetch.py",
        "    if not is_active(reader):\n",
        "    if reader is None:\n",
        f"{_FETCH}::test_fetch_is_dropped_if_reader_unsubscribes_meanwhile",
    ),
    Mutation(
        "content is not fetched for an erased reader",
        "steps/content/fetch.py",
        "    if schedule is None or not schedule.is_asked_for",
        "    if not schedule.is_asked_for",
        f"{_FETCH}::test_items_are_not_fetched_for_erased_reader",
    ),
    Mutation(
        "an item that a digest has shown does not count as a new item",
        "steps/content/store.py",
        "            if outcome in _NOT_NEW and event.id not in waiting_ids\n",
        "            if False\n",
        "tests/unit/content/test_fetch.py"
        "::test_forgotten_item_of_earlier_digest_is_not_fetched_again",
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
        "a digest with a low score is skipped",
        "steps/delivery/prepare.py",
        "        return _ended(run, Skip(Reason.WAITS_FOR_MORE), changes, due)\n",
        "        pass\n",
        f"{_WORTH}::test_digest_with_low_score_is_skipped_and_closes_no_window",
    ),
    Mutation(
        "only a daily digest waits for more events",
        "steps/delivery/prepare.py",
        " or run.key.schedule != DAILY or settled.was_claimed:\n",
        " or run.key.is_immediate or settled.was_claimed:\n",
        f"{_WORTH}::test_less_frequent_digest_is_never_skipped",
    ),
    Mutation(
        "a digest with events of an earlier claim does not wait for more events",
        "steps/delivery/prepare.py",
        " or settled.was_claimed:\n",
        " or settled.carried:\n",
        f"{_WORTH}::test_redrive_of_a_failed_digest_is_not_held_back",
    ),
    Mutation(
        "a digest does not wait for more events if its oldest event is too old",
        "steps/delivery/prepare.py",
        "    if due.oldest_at is None or window.until - due.oldest_at >= worth.longest_wait:\n",
        "    if due.oldest_at is None:\n",
        f"{_WORTH}::test_score_that_falls_with_age_does_not_prolong_the_wait",
    ),
    Mutation(
        "a digest does not wait for more events if an event would lapse",
        "steps/delivery/prepare.py",
        "    if due.over_at and due.over_at <= next_due_at + context.limits.max_lateness:\n",
        "    if False:\n",
        f"{_WORTH}::test_digest_is_sent_if_an_event_would_lapse_before_the_next_digest",
    ),
    Mutation(
        "the age of an event counts from its time, not from its storage",
        "steps/delivery/windows.py",
        "        since = stored.stored_at if is_item else stored.event.occurred_at\n",
        "        since = stored.stored_at\n",
        f"{_WORTH}::test_deferral_by_a_category_hold_does_not_prolong_the_wait",
    ),
    Mutation(
        "an event that occurred more than a day ago is not sent immediately",
        "steps/routing/target.py",
        "        late=context.clock() - event.counts_at > LATE_AFTER,\n",
        "        late=False,\n",
        f"{_AGE}::test_event_that_occurred_more_than_a_day_ago_waits_for_the_digest",
    ),
    Mutation(
        "an event without a record is refused if it is too old",
        "steps/ingest/age.py",
        "            outdated = _not_stored(old, events)\n",
        "            outdated = list[Event]()\n",
        f"{_AGE}::test_event_older_than_its_record_is_refused_with_the_reason",
    ),
    Mutation(
        "an old event is not refused if it is stored",
        "steps/ingest/age.py",
        "            outdated = _not_stored(old, events)\n",
        "            outdated = old\n",
        f"{_AGE}::test_repetition_of_an_old_event_is_recognised",
    ),
    Mutation(
        "an activity without a record is refused if it is too old",
        "steps/ingest/age.py",
        "            if activities.get(activity.entity.key, activity.id) is None:\n",
        "            if False:\n",
        f"{_AGE}::test_outdated_activity_is_refused_unless_it_is_stored",
    ),
    Mutation(
        "the last two digests before dormancy have a notice",
        "domain/subscribers/subscriber.py",
        "        if not is_one_of_last_two(self.recurrence(digest), due_at, before=ends_at):\n",
        "        if True:\n",
        f"{_KEEPING}::test_last_two_daily_digests_have_the_notice",
    ),
    Mutation(
        "opening the page behind the notice changes no row",
        "steps/preferences/keeping.py",
        "    now, sunset = context.routing.clock(), context.routing.sunset\n",
        "    now, sunset = context.routing.clock(), context.routing.sunset\n"
        "    mark_active(link.run.user_id, now, context=context.routing)\n",
        f"{_KEEPING}::test_opening_the_page_changes_no_row",
    ),
    Mutation(
        "only the button of the page behind the notice counts as activity",
        "steps/preferences/keeping.py",
        "    if act is None or before.reader.has_left:\n",
        "    if before.reader.has_left:\n",
        f"{_KEEPING}::test_other_requests_change_no_row",
    ),
    Mutation(
        "the page behind the notice resubscribes no reader",
        "steps/preferences/keeping.py",
        "    if act is None or before.reader.has_left:\n",
        "    if act is None:\n",
        f"{_KEEPING}::test_unsubscribed_reader_stays_unsubscribed",
    ),
    Mutation(
        "a stored next permit is ignored if it is too far in the future",
        "domain/delivery/pace.py",
        "    is_ahead = at > furthest\n",
        "    is_ahead = False\n",
        f"{_ODD_CLOCKS}::test_permits_of_a_clock_an_hour_ahead_delay_workers_ten_seconds",
    ),
    Mutation(
        "a slow clock rarely resets a correct next permit",
        "domain/delivery/pace.py",
        "    if is_ahead and _may_be_set_back_from(pace, now) <= now:\n",
        "    if is_ahead:\n",
        f"{_ODD_CLOCKS}::test_fast_clock_exceeds_the_rate_by_a_bounded_amount",
    ),
    Mutation(
        "after a correction, a permit is later than all permits taken",
        "domain/delivery/pace.py",
        "        at = latest  # other workers have not taken a later permit\n",
        "        at = now\n",
        f"{_ODD_CLOCKS}::test_permits_of_a_clock_an_hour_ahead_delay_workers_ten_seconds",
    ),
    Mutation(
        "a circuit breaker stays open for at most its longest step",
        "domain/delivery/circuit_breaker.py",
        " and (self.by_hand or self.until - now <= LONGEST_STEP + CLOCK_SKEW)\n",
        "\n",
        f"{_ODD_CLOCKS}::test_breaker_opened_by_a_fast_clock_waits_at_most_the_maximum",
    ),
    Mutation(
        "a stretch of the ramp that begins in the future is ignored",
        "domain/delivery/pace.py",
        "    return pace.stretch_at - now > CLOCK_SKEW\n",
        "    return False\n",
        f"{_ODD_CLOCKS}::test_future_ramp_start_does_not_stop_the_ramp_up",
    ),
    Mutation(
        "the audit covers the part of its tick, however late the message is",
        "steps/sweep/audit.py",
        "    at = tick or context.clock()\n",
        "    at = context.clock()\n",
        "tests/unit/sweep/test_audit.py"
        "::test_late_or_repeated_audit_message_covers_the_partition_of_its_tick",
    ),
    Mutation(
        "an audit that runs out of time reports it",
        "steps/sweep/audit.py",
        "            is_cut_off = True\n",
        "",
        "tests/unit/sweep/test_audit.py::test_audit_without_enough_time_is_cut_off_and_retried",
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
        "a run that names no events has shown all events of its window",
        "domain/delivery/run.py",
        " or self.newest == EACH_READ:\n",
        ":\n",
        f"{_MANY_LATE}::test_event_counts_as_shown_unless_listed_as_left_out",
    ),
    Mutation(
        "a cached value expires even if the clock is set back",
        "adapters/cached.py",
        "            if not timedelta(0) <= now - self._tried_at < READ_INTERVAL:\n",
        "            if not now - self._tried_at < READ_INTERVAL:\n",
        "tests/unit/templates/test_sleeping.py"
        "::test_cached_value_is_read_again_after_sleep_or_clock_reset",
    ),
    Mutation(
        "each rendering imports its templates anew",
        "adapters/rendering/environment.py",
        "        return self.make_module({",
        "        return super()._get_default_module(ctx) or self.make_module({",
        "tests/unit/rendering/test_no_state.py"
        "::test_email_contains_no_values_of_the_previous_reader",
    ),
    Mutation(
        "the rendering of a cached block does not depend on the previous block",
        "adapters/rendering/fragments.py",
        "        values.clear()\n",
        "",
        "tests/unit/rendering/test_no_state.py"
        "::test_cached_block_contains_no_values_of_the_previous_block",
    ),
    Mutation(
        "a pushed template cannot format a date or time of unlimited length",
        "adapters/templates/sandbox/templates.py",
        "                    check_instant(each)\n",
        "                    pass\n",
        "tests/unit/templates/test_sandbox.py"
        "::test_attack_pushed_template_cannot_write_dates_of_arbitrary_length",
    ),
    Mutation(
        "a pushed template cannot pad a text to an unlimited width",
        "adapters/templates/sandbox/sizes.py",
        " or _width(text) > LONGEST:\n",
        ":\n",
        "tests/unit/templates/test_sandbox.py"
        "::test_attack_pushed_template_cannot_exhaust_memory_with_text",
    ),
    Mutation(
        "a pushed template calls only functions bounded by the sandbox",
        "adapters/templates/sandbox/templates.py",
        '        del self.globals["_"]\n',
        "",
        "tests/unit/templates/test_sandbox.py"
        "::test_attack_template_cannot_replace_the_translation_function",
    ),
    Mutation(
        "an email contains an event only if its read included the event",
        _RULE_OF_RECEIPTS,
        "        if run.has_shown(row.event.id, row.stored_at)\n",
        "        if run.has_taken(row.stored_at)\n",
        f"{_RECEIPT}::test_event_that_was_written_too_late_for_an_email_is_not_in_it",
    ),
    Mutation(
        "an event may be in an email with an unknown outcome",
        _RULE_OF_RECEIPTS,
        "    return State.MAY_HAVE_BEEN_EMAILED if certainties else None\n",
        "    return None\n",
        f"{_RECEIPT}::test_event_is_never_in_no_email_while_an_attempt_may_have_sent_it",
    ),
    Mutation(
        "the assumption that an email was sent does not count as proof",
        "domain/delivery/run.py",
        "    Reason.ASSUMED: Certainty.ASSUMED,\n",
        "    Reason.ASSUMED: Certainty.ACCEPTED,\n",
        f"{_RECEIPT}::test_story_ends_in_its_state",
    ),
    Mutation(
        "a claim after a retraction does not contain the event",
        _RULE_OF_RECEIPTS,
        "    return False if is_later or run.claimed_at >= written + _INVOCATION else None\n",
        "    return True\n",
        f"{_RECEIPT}::test_event_retracted_before_the_digest_is_in_no_email",
    ),
    Mutation(
        "an earlier attempt with an unknown outcome may contain a retracted event",
        _RULE_OF_RECEIPTS,
        "    is_unclear = is_in is None or bool(run.uncertain - {run.attempt})\n",
        "    is_unclear = is_in is None\n",
        f"{_RECEIPT}::test_earlier_attempt_with_unknown_outcome_may_contain_a_retracted_event",
    ),
    Mutation(
        "the mark of a retraction keeps the place of the event",
        "adapters/dynamodb/events.py",
        "                was_stored=current.stored if current else None,\n",
        "",
        "tests/contract/dynamodb/test_event_traces.py::test_retraction_keeps_the_place_of_its_event",
    ),
    Mutation(
        "an event is read again if a run was claimed just now",
        "steps/support/receipt.py",
        "        if not any(run.claimed_at and run.claimed_at + _JUST_NOW >= now for run in chain)"
        ":\n",
        "        if True:\n",
        f"{_RECEIPT}::test_event_that_moves_between_the_two_reads_is_read_again",
    ),
    Mutation(
        "a seen event is left out",
        "domain/window/seen.py",
        "    return at if at and counts_at(brief) <= at and brief.category != NEW_LINK else None\n",
        "    return None\n",
        f"{_SEEN}::test_seen_event_is_left_out_and_newer_event_is_sent_in_any_order",
    ),
    Mutation(
        "an event that is later than the mark of its entity is sent",
        "domain/window/seen.py",
        "at and counts_at(brief) <= at and brief.category",
        "at and brief.category",
        f"{_SEEN}::test_seen_event_is_left_out_and_newer_event_is_sent_in_any_order",
    ),
    Mutation(
        "a requested link is sent although its entity was seen",
        "domain/window/seen.py",
        " and brief.category != NEW_LINK",
        "",
        f"{_SEEN}::test_requested_link_is_sent_although_its_entity_was_seen",
    ),
    Mutation(
        "critical email does not ask what the reader has seen",
        "steps/delivery/prepare.py",
        "    if run.key.is_critical or not subscriber.may_have_seen(context.clock()):\n",
        "    if not subscriber.may_have_seen(context.clock()):\n",
        f"{_SEEN}::test_critical_email_shows_what_was_seen",
    ),
    Mutation(
        "only readers with marks cost a read",
        "steps/delivery/prepare.py",
        "    if run.key.is_critical or not subscriber.may_have_seen(context.clock()):\n",
        "    if run.key.is_critical:\n",
        f"{_SEEN}::test_reader_without_marks_costs_no_read",
    ),
    Mutation(
        "a mark that concerns no event costs no second read of the window",
        "domain/window/seen.py",
        " if earliest_in(folded.things[thing]) <= at}",
        " if folded.things[thing]}",
        f"{_SEEN}::test_mark_that_concerns_no_event_costs_one_read",
    ),
    Mutation(
        "a run's epoch is raised before its seen events are left out",
        "steps/delivery/deliver.py",
        "    stopped = changed(run, Stop())\n",
        "    stopped = run\n",
        f"{_SEEN}::test_worker_that_read_before_the_mark_does_not_claim_what_another_left_out",
    ),
    Mutation(
        "a seen event that may have been sent is given up",
        "steps/delivery/deliver.py",
        "leave_out(stored, for_good=stored.event.id in may_have_been_sent)",
        "leave_out(stored, for_good=False)",
        f"{_SEEN}::test_event_that_may_have_been_sent_is_given_up_once_it_is_seen",
    ),
    Mutation(
        "events are removed before their run ends",
        "steps/delivery/deliver.py",
        "    unclaimed, removed = _remove(before,",
        "    store(ending.changes, runs=context.runs)\n"
        "    ending, before = replace(ending, changes=()), run\n"
        "    unclaimed, removed = _remove(before,",
        f"{_SEEN}::test_amendment_at_any_moment_of_a_delivery_is_judged_by_its_own_time",
    ),
    Mutation(
        "a seen event that is published again stays left out",
        "steps/routing/move.py",
        "        return stored.is_left_out\n",
        "        return False\n",
        f"{_SEEN}::test_repeated_seen_event_stays_left_out",
    ),
    Mutation(
        "an amendment that is later than the mark restores a seen event",
        "domain/model.py",
        "self.seen_at is not None and self.event.counts_at <= self.seen_at",
        "self.seen_at is not None",
        f"{_SEEN}::test_amendment_that_is_later_than_the_mark_is_sent",
    ),
    Mutation(
        "a visit raises the epochs of the entity's immediate runs",
        "steps/ingest/seen.py",
        "    raise_epochs_under(immediate_schedule(command.entity), user_id, context=context)\n",
        "",
        f"{_SEEN}::test_mark_at_any_moment_before_the_claim_of_an_immediate_email_is_kept",
    ),
    Mutation(
        "the mark of an erased reader is deleted",
        "steps/ingest/seen.py",
        "        seen_marks.remove(mark)\n",
        "",
        f"{_SEEN}::test_erasure_at_any_moment_of_the_message_leaves_no_mark",
    ),
    Mutation(
        "a visit is announced in the reader's row",
        "steps/ingest/seen.py",
        "    _announce(user_id, reader, seen_marks, context)\n",
        "",
        f"{_SEEN}::test_digest_of_seen_events_is_skipped_with_the_reason",
    ),
    Mutation(
        "a visit counts as activity",
        "steps/ingest/seen.py",
        "    outcome = mark_active(user_id, at, context=context)\n",
        "    outcome = Outcome.ACTIVE\n",
        f"{_SEEN}::test_mark_is_a_sign_of_life",
    ),
    Mutation(
        "the latest mark prevails",
        "adapters/dynamodb/feedback/seen_marks.py",
        "EventRow.seen_at.does_not_exist() | (EventRow.seen_at < mark.seen_at)",
        "EventRow.seen_at.does_not_exist() | EventRow.seen_at.exists()",
        f"{_SEEN_MARKS}::test_latest_mark_prevails_in_any_order",
    ),
    Mutation(
        "an event that was amended since the read is not left out",
        "adapters/dynamodb/deferred_events.py",
        "            condition=in_place(stored) & (EventRow.body == body_of(event)),\n",
        "            condition=in_place(stored),\n",
        f"{_SEEN_MARKS}::test_event_that_changed_since_the_read_is_not_left_out",
    ),
    Mutation(
        "an event that moved since the read is not left out",
        "adapters/dynamodb/deferred_events.py",
        "            condition=in_place(stored) & (EventRow.body == body_of(event)),\n",
        "            condition=EventRow.body == body_of(event),\n",
        f"{_SEEN_MARKS}::test_event_that_changed_since_the_read_is_not_left_out",
    ),
    Mutation(
        "an erasure up to an instant deletes the marks up to then",
        "adapters/dynamodb/events.py",
        "        return row.seen_at is None or row.seen_at <= until\n",
        "        return False\n",
        f"{_SEEN_MARKS}::test_erasure_up_to_an_instant_keeps_later_marks",
    ),
    Mutation(
        "a mark lives as long as an event can arrive late and then wait",
        "domain/scheduling/lifetime.py",
        "    return longest_life(least) + least + _DAY\n",
        "    return longest_life(least)\n",
        f"{_SEEN}::test_mark_outlives_every_event_that_arrives_late",
    ),
    Mutation(
        "an event about a muted thing is not stored",
        "steps/routing/target.py",
        "            if reader.mutes and not critical and is_muted(event, reader.mutes):\n"
        "                return Outcome.MUTED\n",
        "",
        f"{_MUTED}::test_events_about_muted_thing_are_not_stored",
    ),
    Mutation(
        "a mute does not apply to critical events",
        "steps/routing/target.py",
        "            if reader.mutes and not critical and is_muted(event, reader.mutes):\n",
        "            if is_muted(event, reader.mutes):\n",
        f"{_MUTED}::test_critical_events_about_muted_thing_are_sent",
    ),
    Mutation(
        "a mute applies to an event however it reaches the reader",
        _MUTES,
        "(mute.entity == event.entity.key or mute.entity in event.via)",
        "mute.entity == event.entity.key",
        f"{_MUTED}::test_activity_on_muted_thing_or_below_it_is_not_stored",
    ),
    Mutation(
        "the end of a mute during the routing of an event routes the event again",
        "steps/routing/target.py",
        'attrgetter("choices", "mutes", "status",',
        'attrgetter("choices", "status",',
        f"{_MUTED}::test_unmute_at_every_call_of_the_writer_loses_no_event",
    ),
    Mutation(
        "the write of a mute makes later runs route their events again",
        "domain/subscribers/subscriber.py",
        "mutes=mutes, routes_since=since, revision=self.revision + 1)\n",
        "mutes=mutes, revision=self.revision + 1)\n",
        f"{_MUTED}::test_waiting_events_about_muted_thing_are_not_sent",
    ),
    Mutation(
        "the write of a mute is visible in the last look of a worker",
        "domain/subscribers/subscriber.py",
        "mutes=mutes, routes_since=since, revision=self.revision + 1)\n",
        "mutes=mutes, routes_since=since)\n",
        f"{_MUTED}::test_two_mutes_at_once_are_both_stored",
    ),
    Mutation(
        "a mute never sets back the time since which runs route their events again",
        "adapters/dynamodb/subscribers.py",
        "            actions.append(SubscriberRow.routes_since.set(since))\n"
        "            condition &= _not_later_than(since)\n"
        "        return",
        "            actions.append(SubscriberRow.routes_since.set(since))\n        return",
        "tests/contract/dynamodb/test_subscribers.py"
        "::test_mute_with_an_earlier_routes_since_than_stored_is_not_written",
    ),
    Mutation(
        "a profile keeps the mutes of its reader",
        "steps/ingest/profiles.py",
        "        mutes=current.mutes,\n",
        "",
        f"{_MUTED}::test_profile_keeps_mutes_and_erasure_deletes_them",
    ),
    Mutation(
        "a mute that arrives before the profile is kept",
        "steps/ingest/profiles.py",
        "                mutes=early.mutes if early else (),\n",
        "",
        f"{_MUTED}::test_mute_before_the_profile_is_in_force_from_its_first_event",
    ),
    Mutation(
        "a mute of one thing too many is refused",
        _MUTES,
        "        if is_new and len(in_force(tuple(by_entity.values()))) >= MOST_MUTED:\n",
        "        if False:\n",
        f"{_MUTING}::test_mute_of_one_thing_too_many_is_refused_and_the_others_stay",
    ),
    Mutation(
        "the latest change of a mute counts",
        _MUTES,
        "        if before and (before.at, before.is_muted) >= (change.at, change.is_muted):\n",
        "        if before == change:\n",
        f"{_MUTING}::test_changes_in_any_order_have_the_same_result",
    ),
    Mutation(
        "the undo of a mute does not end a later mute",
        "steps/preferences/leaving.py",
        "    end = Mute(entity, muted_at).ended\n",
        "    end = Mute(entity, context.routing.clock()).ended\n",
        f"{_MUTING}::test_old_undo_does_not_end_a_later_mute",
    ),
    Mutation(
        "an outdated preference page does not end a later mute",
        "domain/subscribers/preference_form.py",
        '    return f"{entity_mark(mute.entity)}.{mute.at.isoformat()}"\n',
        "    return entity_mark(mute.entity)\n",
        f"{_MUTING}::test_outdated_page_does_not_end_a_later_mute",
    ),
    Mutation(
        "a press of the button counts, also if a service's clock was ahead",
        _MUTES,
        "max(now, latest + _STEP) if latest else now",
        "now",
        f"{_MUTING}::test_mute_counts_even_if_the_clock_of_a_service_was_ahead",
    ),
    Mutation(
        "a stage with a list skips the runs of other recipients",
        "steps/delivery/prepare.py",
        "    if not context.allowed.allow(subscriber.email):\n"
        "        return _ended(run, Skip(Reason.NOT_ALLOWED), changes)\n",
        "",
        f"{_ALLOWED}::test_run_of_other_reader_is_skipped_and_nothing_is_sent",
    ),
    Mutation(
        "a stage with a list sends to no other recipient, whatever called the mailer",
        "adapters/mail/allowed.py",
        "        if not self._allowed.allow(mail.to):\n"
        "            return RefusedForGood(attempt, NOT_ALLOWED)\n",
        "",
        f"{_ALLOWED}::test_mailer_refuses_other_recipients_for_good_without_calling_the_provider",
    ),
    Mutation(
        "an invalid allowed recipient is an error",
        "domain/subscribers/addresses.py",
        '    raise ValueError(\n        f"{ascii(given)[:80]} is not a recipient',
        "    return ascii(given)\n"
        "    raise ValueError(\n"
        '        f"{ascii(given)[:80]} is not a recipient',
        f"{_ALLOWED}::test_invalid_entry_is_refused_instead_of_ignored",
    ),
)
