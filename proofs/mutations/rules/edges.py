"""The rules of emails, templates, queues, pages, commands, receipts and the API."""

from typing import Final

from proofs.mutations.mutation import Mutation

_LINKS = "tests/unit/preferences/test_which_links_work.py"
_LONG = "tests/unit/ingest/test_long_messages.py"
_EXPORT = "tests/unit/support/test_export.py"
_LEAVING_PAGES = "tests/functions/preferences/test_leaving.py"
_CONFIRMED = "tests/functions/cli/test_templates.py"
_RECEIPT = "tests/unit/support/test_receipt.py"
_REPORTS = "tests/unit/feedback/test_reports.py"
_DELIVERY_EVENTS = "tests/unit/api/test_delivery_events.py"
_RULE_OF_RECEIPTS = "domain/receipts/rule.py"
_NOT_ACKNOWLEDGED = (
    "tests/functions/test_acknowledging.py::test_message_is_not_acknowledged_if_its_commit_failed"
)

RULES: Final = (
    Mutation(
        "a worker that finds another's claim does not send",
        "steps/runs.py",
        "            return stored if stored.is_claimed_like(claimed) else None\n",
        "            return stored\n",
        "tests/unit/delivery/test_deliver.py::test_earlier_claim_by_another_worker_wins",
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
        "the SES client makes one attempt",
        "adapters/mail/ses.py",
        "read.total_seconds(), attempts=1)",
        "read.total_seconds(), attempts=3)",
        "tests/contract/outside/test_ses_outcomes.py"
        "::test_lost_response_is_uncertain_after_a_single_request",
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
        "a waiting message is returned to its queue",
        "observability.py",
        "            _report(message, err, run_of(message))\n"
        "            if isinstance(err, Hidden):\n",
        "            _report(message, err, run_of(message))\n"
        "            handled[number] = isinstance(err, NotYet)\n"
        "            if isinstance(err, Hidden):\n",
        "tests/functions/delivery/test_outcomes.py"
        "::test_temporarily_refused_run_moves_to_the_resend_queue_and_is_hidden",
    ),
    Mutation(
        "feedback rejects an event from a source other than SES",
        "adapters/mail/ses_events.py",
        "    if isinstance(source, str) and source != _SOURCE:\n",
        "    if source is None:\n",
        "tests/unit/feedback/test_ses_events.py::test_service_event_is_rejected_with_its_source",
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
        "a message uses no more than its share of the invocation's time",
        "steps/time_budget.py",
        "    return lambda: time_left() - behind\n",
        "    return lambda: behind + LONGEST\n",
        f"{_LONG}::test_late_follow_leaves_time_for_other_messages_in_batch",
    ),
    Mutation(
        "an activity is stored for as long as one of its events may wait",
        "bootstrap/parts/routing.py",
        "        retention=longest_life(settings.event_retention),\n",
        "        retention=settings.event_retention,\n",
        "tests/functions/ingest/test_activities.py::test_activity_is_kept_as_long_as_its_events",
    ),
    Mutation(
        "a link expires",
        "adapters/web/links.py",
        "        if link.has_expired(purpose, self._clock().date()):\n",
        "        if False:\n",
        f"{_LINKS}::test_attack_expired_link_opens_no_page",
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
        "a form that is shown again with problems keeps its original values",
        "adapters/rendering/preference_page.py",
        'sent["was"][0] if "was" in sent else written_fields(current)',
        "written_fields(current)",
        "tests/unit/rendering/test_preference_page.py"
        "::test_form_with_problems_keeps_the_originally_shown_values",
    ),
    Mutation(
        "ingest applies only the changed fields of a choice from the page",
        "adapters/contract/decoding.py",
        "        return narrowed(command, fields)\n",
        "        return command\n",
        "tests/contract/outside/test_bus.py::test_category_choice_is_sent_as_a_map_and_a_patch",
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
        "after a source is assigned to a reader, the profile is read again",
        "cli/gazette_support/steps/sources.py",
        "            if latest.is_unchanged_since(reader):\n",
        "            if latest:\n",
        "tests/unit/content/test_arming.py::test_content_is_not_fetched_after_category_is_muted",
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
        "a claim after a retraction does not contain the event",
        _RULE_OF_RECEIPTS,
        "    return False if is_later or run.claimed_at >= written + LONGEST_INVOCATION",
        "    return True if is_later",
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
        "an event is read again if a run was claimed just now",
        "steps/support/receipt.py",
        "        if not any(run.claimed_at and run.claimed_at + _JUST_NOW >= now for run in chain)"
        ":\n",
        "        if True:\n",
        f"{_RECEIPT}::test_event_that_moves_between_the_two_reads_is_read_again",
    ),
)
