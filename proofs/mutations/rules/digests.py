"""The rules of fan-out, occurrences, redrives and content sources."""

from typing import Final

from proofs.mutations.mutation import Mutation

_HEADS = "tests/unit/delivery/test_heads.py"
_CONTENT = "tests/unit/content/test_digests.py"
_ASK = "tests/unit/content/test_ask.py"
_FETCH = "tests/unit/content/test_fetch.py"
_ONE_ROW = "tests/unit/sweep/test_one_row.py"
_NEW_RULES = "tests/unit/fanout/test_new_zone_rules.py"

RULES: Final = (
    Mutation(
        "a failure of one schedule does not stop its shard",
        "steps/fanout/fanout.py",
        '            with of_one_row("schedules", schedule.user_id, schedule.name):\n'
        "                yield\n",
        "            yield\n",
        _ONE_ROW + "::test_fan_out_starts_all_readable_schedules_and_records_the_slot",
    ),
    Mutation(
        "if new time zone rules moved the last digest, the next digest is on another date",
        "steps/occurrences/start.py",
        "    return next_on_another_date(schedule.recurrence, after=due_at, last=due_at)\n",
        "    return next_on_another_date(schedule.recurrence, after=due_at, last=None)\n",
        "tests/unit/fanout/test_fanout.py::test_unknown_time_zone_is_treated_as_utc",
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
        "a stale entry of the due index is ignored",
        "steps/fanout/fanout.py",
        "            elif self._is_due(row):\n                yield row\n",
        "            else:\n                yield row\n",
        "tests/unit/fanout/test_fanout.py::test_stale_due_index_entry_is_ignored",
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
        "a schedule with a content source does not skip an occurrence whose run is open",
        "steps/occurrences/start.py",
        "    elif not used.status.is_final:\n        return schedule\n",
        "",
        f"{_CONTENT}::test_occurrence_started_by_another_worker_is_not_skipped",
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
)
