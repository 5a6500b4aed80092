"""The rules of runs, their lifecycle, windows, chains and calendars."""

from typing import Final

from proofs.mutations.mutation import Mutation

_LINKS = "tests/unit/preferences/test_which_links_work.py"
_CRITICAL = "tests/unit/routing/test_critical.py"
_HEADS = "tests/unit/delivery/test_heads.py"
_CHAIN = "domain/scheduling/chain.py"
_EXPORT = "tests/unit/support/test_export.py"
_MANY_LATE = "tests/unit/routing/test_many_late.py"
_ODD_CLOCKS = "tests/contract/pacing/test_odd_clocks.py"
_RECEIPT = "tests/unit/support/test_receipt.py"
_REPORTS = "tests/unit/feedback/test_reports.py"
_NEW_RULES = "tests/unit/fanout/test_new_zone_rules.py"

RULES: Final = (
    Mutation(
        "a stage without an entry in sources accepts no delivery reports",
        "domain/sources.py",
        "        if allowed is None and detail_type == DELIVERY_REPORTED:\n",
        "        if allowed is None and not detail_type:\n",
        f"{_REPORTS}::test_stage_that_lists_no_source_quarantines_every_report",
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
        "no digest is due in a pause",
        "domain/scheduling/calendar.py",
        "    if recurrence.paused_until:\n        day = max(day, recurrence.paused_until)\n",
        "",
        "tests/unit/subscribers/test_pause.py"
        "::test_pause_schedules_no_digest_and_waiting_events_share_an_email",
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
        "a link with an unknown scope is rejected",
        "domain/links.py",
        "    if not _SCOPE.fullmatch(text):\n",
        "    if False:\n",
        f"{_LINKS}::test_link_with_unknown_scope_does_not_unsubscribe_from_everything",
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
        "a reader who unsubscribed gets only critical events",
        "domain/delivery/run.py",
        "    return reader.receives_critical if key.is_critical else reader.receives_email\n",
        "    return reader.receives_critical\n",
        f"{_CRITICAL}::test_noncritical_run_is_not_sent_after_unsubscribing_even_if_unsuppressed",
    ),
    Mutation(
        "a cursor of an export is refused for another reader",
        "domain/export.py",
        "if owner == user_id and _KEY",
        "if _KEY",
        f"{_EXPORT}::test_cursor_is_read_as_it_was_written",
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
        "a run that names no events has shown all events of its window",
        "domain/delivery/run.py",
        " or self.newest == EACH_READ:\n",
        ":\n",
        f"{_MANY_LATE}::test_event_counts_as_shown_unless_listed_as_left_out",
    ),
    Mutation(
        "the assumption that an email was sent does not count as proof",
        "domain/delivery/run.py",
        "    Reason.ASSUMED: Certainty.ASSUMED,\n",
        "    Reason.ASSUMED: Certainty.ACCEPTED,\n",
        f"{_RECEIPT}::test_story_ends_in_its_state",
    ),
)
