"""The rules of rows in DynamoDB."""

from typing import Final

from proofs.mutations.mutation import Mutation

_RUNS = "tests/contract/dynamodb/test_runs.py"
_SWAP_HOLDS = (
    "tests/contract/dynamodb/test_runs.py"
    "::test_swap_succeeds_only_if_the_run_is_unchanged_since_read"
)
_BATCHING = "tests/unit/pacing/test_batching.py"
_TOGETHER = "tests/contract/pacing/test_side_by_side.py"
_NEWER_ROWS = "tests/contract/dynamodb/test_newer_rows.py"
_PATIENCE = "tests/contract/outside/test_patience.py"

RULES: Final = (
    Mutation(
        "an invocation sends several emails if its stream is fast enough",
        "domain/delivery/batching.py",
        "    return most if rate >= SLOWEST_TOGETHER else 1\n",
        "    return 1\n",
        f"{_BATCHING}::test_invocation_sends_ten_emails_from_two_a_second_on",
    ),
    Mutation(
        "a worker waits for the permits of two invocations",
        "domain/delivery/batching.py",
        "timedelta(seconds=2 * batch / rate)",
        "timedelta(seconds=batch / rate)",
        f"{_BATCHING}::test_worker_waits_for_the_permits_of_two_invocations",
    ),
    Mutation(
        "a worker that does not know the quota yet waits as long as one of its size",
        "domain/delivery/pace.py",
        "    account = pace.quota.rate if pace.quota else ASSUMED_QUOTA\n",
        "    account = pace.quota.rate if pace.quota else SANDBOX_RATE\n",
        f"{_BATCHING}::test_wait_follows_the_rate_of_the_account",
    ),
    Mutation(
        "a run is read only if a permit begins within the wait of a worker",
        "steps/delivery/pacing.py",
        "    if known.free_at <= now + known.longest_wait:\n",
        "    if known.free_at <= now + 2 * known.longest_wait:\n",
        "tests/unit/delivery/test_deliver.py"
        "::test_run_is_read_if_a_permit_begins_within_the_longest_wait",
    ),
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
        "deferring events of a held category makes claims on an older read fail",
        "adapters/dynamodb/deferred_events.py",
        "                    raise_epoch(run, writes)\n",
        "",
        "tests/contract/dynamodb/test_deferred_events.py"
        "::test_deferred_event_leaves_the_window_and_fails_an_open_claim",
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
        "an event past its TTL does not count as waiting",
        "adapters/dynamodb/events.py",
        "            return any(True for _ in _kept(rows, now))\n",
        "            return any(True for _ in rows)\n",
        "tests/contract/dynamodb/test_windows.py"
        "::test_expired_event_is_readable_until_the_next_run",
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
        "bounces, complaints and operators stop critical events",
        "adapters/dynamodb/feedback/suppressions.py",
        "not (critical and row.reason == Cause.UNSUBSCRIBED.value)\n",
        "not critical\n",
        "tests/contract/feedback/test_suppressions.py"
        "::test_only_an_unsubscribe_allows_critical_email",
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
        "the mark of a retraction keeps the place of the event",
        "adapters/dynamodb/events.py",
        "                was_stored=current.stored if current else None,\n",
        "",
        "tests/contract/dynamodb/test_event_traces.py::test_retraction_keeps_the_place_of_its_event",
    ),
    Mutation(
        "one query reads the runs of an entity's usual and urgent emails",
        "adapters/dynamodb/runs.py",
        "            rest = chain(page[len(ours) :], rows)\n",
        "            rest = iter(())\n",
        f"{_RUNS}::test_chains_of_a_thread_are_those_of_both_its_schedules",
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
)
