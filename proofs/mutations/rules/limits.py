"""The rules of the limit of immediate emails."""

from typing import Final

from proofs.mutations.mutation import Mutation

_LIMIT = "tests/unit/routing/test_limit.py"
_USAGE = "tests/contract/dynamodb/test_immediate_usage.py"

RULES: Final = (
    Mutation(
        "a new event beyond the limit goes to the digest",
        "steps/routing/limit.py",
        "        return target if self._take(event, target) else daily_target(reader)\n",
        "        return target\n",
        f"{_LIMIT}::test_events_beyond_the_limit_go_with_the_daily_digest",
    ),
    Mutation(
        "waiting events take a token when their reader changes to immediate",
        "steps/routing/together.py",
        "        elif tokens.allow(sendable[0].event, target):\n",
        "        elif tokens:\n",
        f"{_LIMIT}::test_reader_who_switches_to_immediate_gets_only_the_limit",
    ),
    Mutation(
        "a waiting event takes a token when it is published again",
        "steps/routing/limit.py",
        "        if self.allow(stored.event, target):\n",
        "        if target:\n",
        f"{_LIMIT}::test_repetition_after_a_switch_takes_a_token",
    ),
    Mutation(
        "a repetition takes no token",
        "steps/routing/limit.py",
        "        if not is_new and self.context.events.get(event.user_id, event.id) is not None:\n",
        "        if is_new is None:\n",
        f"{_LIMIT}::test_repetition_takes_no_token",
    ),
    Mutation(
        "a critical event takes no token",
        "steps/routing/limit.py",
        "            or is_critical(schedule)\n",
        "            or is_critical(user_id)\n",
        f"{_LIMIT}::test_critical_events_and_links_take_no_token",
    ),
    Mutation(
        "a requested link takes no token",
        "steps/routing/limit.py",
        "            or event.category == NEW_LINK\n",
        "            or user_id == NEW_LINK\n",
        f"{_LIMIT}::test_critical_events_and_links_take_no_token",
    ),
    Mutation(
        "an event that joins a run that collects takes no token",
        "steps/routing/limit.py",
        "        return not needs_run(chain, self.context.clock())\n",
        "        return not needs_run([], self.context.clock()) and bool(chain)\n",
        f"{_LIMIT}::test_event_that_joins_a_run_that_collects_takes_no_token",
    ),
    Mutation(
        "events that are stored together about one entity share a token",
        "steps/routing/limit.py",
        "            or (user_id, schedule) in self._taken\n",
        "",
        f"{_LIMIT}::test_event_that_joins_a_run_that_collects_takes_no_token",
    ),
    Mutation(
        "an event that joins the newest of many waiting runs takes no token",
        "steps/routing/immediate.py",
        "    return collecting(chain, at) is None and not _is_full(chain)\n",
        "    return collecting(chain, at) is None\n",
        f"{_LIMIT}::test_event_that_joins_the_newest_of_many_runs_takes_no_token",
    ),
    Mutation(
        "the limit of an hour counts",
        "domain/scheduling/cap.py",
        "if hour - now <= HOUR and day - now <= DAY else None",
        "if day - now <= DAY else None",
        f"{_LIMIT}::test_allowance_refills_with_time",
    ),
    Mutation(
        "the limit of a day counts",
        "domain/scheduling/cap.py",
        "if hour - now <= HOUR and day - now <= DAY else None",
        "if hour - now <= HOUR else None",
        f"{_LIMIT}::test_limit_of_a_day_applies_too",
    ),
    Mutation(
        "a token is never returned",
        "domain/scheduling/cap.py",
        "    return max(free_at, now) + period // number\n",
        "    return now + period // number\n",
        f"{_LIMIT}::test_events_beyond_the_limit_go_with_the_daily_digest",
    ),
    Mutation(
        "the whole allowance is free after an hour, whatever the number of emails",
        "domain/scheduling/cap.py",
        "    return max(free_at, now) + period // number\n",
        "    return max(free_at, now) + period / number\n",
        f"{_LIMIT}::test_whole_allowance_is_free_after_a_pause",
    ),
    Mutation(
        "the usage is replaced only as it was read",
        "adapters/dynamodb/feedback/immediate_usage.py",
        "        return written(EventRow(user_id, CAP_KEY).update, actions, unchanged)\n",
        "        return written(EventRow(user_id, CAP_KEY).update, actions) or bool(unchanged)\n",
        f"{_USAGE}::test_usage_is_replaced_only_as_it_was_read",
    ),
    Mutation(
        "the mark decides where an event belongs",
        "steps/routing/target.py",
        "        late=is_capped or context.clock()",
        "        late=context.clock()",
        f"{_LIMIT}::test_choices_keep_an_event_in_a_digest",
    ),
    Mutation(
        "a change of choices does not move an event with the mark",
        "steps/routing/reroute.py",
        "target_of(stored.event, inputs, context, is_capped=stored.is_capped)",
        "target_of(stored.event, inputs, context)",
        f"{_LIMIT}::test_reader_who_switches_to_immediate_gets_only_the_limit",
    ),
    Mutation(
        "a repetition does not move an event with the mark",
        "steps/routing/route.py",
        "    if stored.is_capped:\n",
        "    if target.is_capped:\n",
        f"{_LIMIT}::test_repetition_keeps_an_event_in_the_digest",
    ),
    Mutation(
        "a late follow does not move an event with the mark",
        "steps/routing/catch_up.py",
        "            if found.is_capped:\n",
        "            if target.is_capped:\n",
        f"{_LIMIT}::test_follower_who_catches_up_keeps_events_in_the_digest",
    ),
    Mutation(
        "the mark is stored with a new event",
        "adapters/dynamodb/events.py",
        "        why=CAPPED if stored.is_capped else None,\n",
        "",
        f"{_USAGE}::test_mark_is_stored_with_the_event",
    ),
    Mutation(
        "the mark is stored with an event that moves",
        "adapters/dynamodb/events.py",
        "        reason.append(EventRow.why.set(CAPPED))\n",
        "        reason.append(EventRow.why.remove())\n",
        f"{_USAGE}::test_event_gets_its_mark_when_it_moves",
    ),
    Mutation(
        "an event that stays in the digest gets its mark in place",
        "steps/routing/together.py",
        "            context.events.cap(stored)\n",
        "            pass\n",
        f"{_LIMIT}::test_reader_who_switches_to_immediate_gets_only_the_limit",
    ),
    Mutation(
        "an event that moved meanwhile gets no mark in place",
        "adapters/dynamodb/events.py",
        "            actions=[EventRow.why.set(CAPPED)],\n"
        "            condition=in_place(stored),\n",
        "            actions=[EventRow.why.set(CAPPED)],\n",
        f"{_USAGE}::test_event_that_was_removed_gets_no_mark",
    ),
    Mutation(
        "the digest is armed before events beyond the limit move there",
        "steps/routing/together.py",
        "            arm({(reader.user_id, target.schedule): reader}, context=context)\n",
        "            pass\n",
        f"{_LIMIT}::test_digest_that_reroutes_its_events_and_dies_loses_no_event",
    ),
    Mutation(
        "an erasure deletes the usage",
        "adapters/dynamodb/events.py",
        "    if row.event_id == CAP_KEY:\n        return True\n",
        "",
        f"{_USAGE}::test_erasure_deletes_the_usage",
    ),
    Mutation(
        "a stage without a limit makes no further call",
        "steps/routing/limit.py",
        "            self.context.immediate_limit is None\n",
        "            self.context.immediate_usage is None\n",
        f"{_LIMIT}::test_stage_without_a_limit_makes_no_further_call",
    ),
)
