"""The rules of one happening in one email."""

from typing import Final

from proofs.mutations.mutation import Mutation

_STEPS = "tests/unit/routing/test_happening.py"
_RACES = "tests/unit/routing/test_happening_races.py"
_OTHERS = "tests/unit/routing/test_happening_others.py"
_LIMIT = "tests/unit/routing/test_happening_limit.py"
_BODIES = "tests/unit/routing/test_bodies.py"
_ROWS = "tests/contract/dynamodb/test_happenings.py"
_RECEIPTS = "tests/unit/support/test_receipt_happening.py"
_JOIN = "steps/routing/happening.py"
_WRITE = "steps/routing/rewriting.py"
_ORDERS = f"{_STEPS}::test_order_of_messages_changes_nothing"
_ADDRESSED = f"{_STEPS}::test_order_of_messages_about_addressed_events_changes_nothing"
_OVERTAKES = f"{_STEPS}::test_worker_that_overtakes_another_at_any_call_loses_and_repeats_nothing"
_ONCE = f"{_STEPS}::test_one_email_is_sent_whenever_email_is_sent"
_NONE = f"{_STEPS}::test_body_that_comes_after_an_email_without_the_retracted_one_is_sent"
_TOLD = f"{_STEPS}::test_happening_is_told_once_by_its_strongest_body"
_AS_SENT = (
    "    return replace(change, after=as_sent) if row.stored_at <= sent_until(chain) else change\n"
)

RULES: Final = (
    Mutation(
        "an addressed body is stronger than a followed one",
        "domain/happening/bodies.py",
        "    return not is_critical(body.schedule), lapses, is_followed, late, body.event.own_id\n",
        "    return not is_critical(body.schedule), lapses, late, body.event.own_id\n",
        _TOLD,
    ),
    Mutation(
        "a happening waits where its soonest body would",
        "domain/happening/bodies.py",
        "    soonest = min(by_strength, key=lambda each: _lateness(each, at))\n",
        "    soonest = by_strength[0]\n",
        _TOLD,
    ),
    Mutation(
        "the row keeps every wanted body",
        "domain/happening/bodies.py",
        "    others = without_body(_sorted(each.event for each in candidates), strongest.own_id)\n",
        "    others = ()\n",
        _TOLD,
    ),
    Mutation(
        "an older version of a body changes nothing",
        "domain/happening/bodies.py",
        "    if same and not event.amends(same):\n",
        "    if same and not event:\n",
        f"{_STEPS}::test_each_body_is_amended_by_itself",
    ),
    Mutation(
        "a row that was sent shows what its email showed",
        _WRITE,
        _AS_SENT,
        "    return change\n",
        f"{_STEPS}::test_body_that_comes_after_the_email_is_not_sent_again",
    ),
    Mutation(
        "a row that was sent shows another body once its own is retracted",
        "domain/happening/bodies.py",
        "if body.own_id == row.event.own_id), settlement.shown)\n",
        "if body.own_id == row.event.own_id), row.event)\n",
        f"{_STEPS}::test_row_that_was_sent_shows_another_body_once_its_own_is_retracted",
    ),
    Mutation(
        "a row that was or may have been sent does not move",
        _WRITE,
        "    if stored_at <= until:\n",
        "    if not stored_at:\n",
        _ONCE,
    ),
    Mutation(
        "a moving row has the guard of the place that it leaves",
        _WRITE,
        "    return replace(change, moves=True), guard\n",
        "    return replace(change, moves=True), Guard()\n",
        f"{_RACES}::test_mention_that_takes_its_row_from_a_digest_that_is_being_made_is_in_one_email",
    ),
    Mutation(
        "a moving row has the guard of its new place",
        _WRITE,
        "        guard += guard_to_arrive(event.user_id, planned.after.schedule, context)\n",
        "        guard += Guard()\n",
        f"{_RACES}::test_row_that_returns_to_a_digest_is_not_behind_a_closed_window",
    ),
    Mutation(
        "a row that moves to an immediate email takes a token",
        _WRITE,
        "and not tokens.allow(after.shown, after.schedule):\n",
        "and not after:\n",
        f"{_LIMIT}::test_pair_over_the_limit_is_in_the_digest_for_good",
    ),
    Mutation(
        "a row without a token gets the mark of the limit",
        _WRITE,
        "    return settle(candidates, is_capped=is_capped)\n",
        "    return settle(candidates)\n",
        f"{_LIMIT}::test_pair_over_the_limit_is_in_the_digest_for_good",
    ),
    Mutation(
        "the mark of the limit decides about all bodies of a row",
        _WRITE,
        "after=_settled(bodies, inputs, context, is_capped=_is_capped(row)),\n",
        "after=_settled(bodies, inputs, context, is_capped=False),\n",
        f"{_LIMIT}::test_mark_remains_when_a_body_leaves_and_when_one_joins",
    ),
    Mutation(
        "a change of the mark alone is written",
        "domain/happening/rewriting.py",
        "        return (after.shown, after.others, after.is_capped, self.refuses_own) != (\n"
        "            before.event,\n"
        "            before.others,\n"
        "            before.is_capped,\n",
        "        return (after.shown, after.others, self.refuses_own) != (\n"
        "            before.event,\n"
        "            before.others,\n",
        f"{_LIMIT}::test_change_of_choices_takes_a_token_for_the_row",
    ),
    Mutation(
        "the digest is armed before a run routes a row to it",
        _WRITE,
        "            _arm_digest(event.user_id, planned.after.schedule, context)\n",
        "            pass\n",
        f"{_RACES}::test_run_that_dies_while_it_routes_a_row_again_loses_nothing",
    ),
    Mutation(
        "a change in place raises the epochs of the runs",
        _WRITE,
        "    if is_written and before and is_unguarded and (change.writes_row or is_repeatable):\n",
        "    if is_written and before and is_unguarded and not change:\n",
        f"{_RACES}::test_retraction_before_the_claim_is_not_in_the_email",
    ),
    Mutation(
        "a repeated message raises the epochs again",
        _WRITE,
        "    if is_written and before and is_unguarded and (change.writes_row or is_repeatable):\n",
        "    if is_written and before and is_unguarded and change.writes_row:\n",
        f"{_STEPS}::test_repetition_raises_the_epochs_for_a_worker_that_died",
    ),
    Mutation(
        "a retraction that brings a row back to a digest arms the digest",
        _JOIN,
        "            await_run(stored, context)\n            if stored and not",
        "            if stored and not",
        f"{_STEPS}::test_retraction_brings_the_row_back_to_an_idle_digest",
    ),
    Mutation(
        "a retraction reads choices and follows again",
        _JOIN,
        "            if stored and not _is_as_read(bodies, inputs, context):\n",
        "            if stored and not bodies:\n",
        _OVERTAKES,
    ),
    Mutation(
        "a change of choices arms the digest or starts the run of a row",
        _JOIN,
        "        await_run(current, context)\n",
        "",
        f"{_RACES}::test_change_of_choices_arms_for_a_worker_that_died",
    ),
    Mutation(
        "a change of choices routes rows with several bodies",
        "steps/routing/reroute.py",
        "        for stored in happenings:\n            time.require()\n"
        "            resettle(stored, context=context)\n",
        "",
        f"{_LIMIT}::test_row_that_was_not_over_the_limit_moves",
    ),
    Mutation(
        "a run routes its rows with several bodies again",
        "steps/routing/reroute.py",
        "        has_left |= resettle(stored, context=context)\n",
        "        has_left |= False\n",
        _ORDERS,
    ),
    Mutation(
        "the lifetime of a row with several bodies is extended",
        _JOIN,
        "            extend_row(current, inputs, context)\n",
        "            pass\n",
        f"{_STEPS}::test_pause_extends_the_lifetime_of_a_row_with_several_bodies",
    ),
    Mutation(
        "a retraction removes the body at its pointer",
        "steps/routing/reroute.py",
        "        remove_body(user_id, trace.part_of, trace.id, context=context)\n",
        "        pass\n",
        _ORDERS,
    ),
    Mutation(
        "the retraction of an activity removes only its own body",
        "steps/routing/reroute.py",
        '        remove_body(user_id, trace.event.id, "", context=context)\n',
        "        context.events.remove(trace, Guard())\n",
        _ORDERS,
    ),
    Mutation(
        "an event whose pointer was retracted is rejected",
        _JOIN,
        "        elif pointer and not pointer.is_pointer:\n",
        "        elif pointer and not pointer:\n",
        f"{_STEPS}::test_event_that_was_retracted_early_is_rejected",
    ),
    Mutation(
        "an event that was retracted in the row of another is rejected",
        _JOIN,
        "        return row.refuses_own and not event.own_id\n",
        "        return False\n",
        f"{_STEPS}::test_retraction_of_an_addressed_event_is_remembered_beside_another_body",
    ),
    Mutation(
        "an early retraction is stored in the row of another body",
        _JOIN,
        "        retracted = own_id if not own_id or len(bodies) < len(row.bodies) else None\n",
        "        retracted = own_id if len(bodies) < len(row.bodies) else None\n",
        _ADDRESSED,
    ),
    Mutation(
        "a mark remembers the retraction of the body without an own id",
        "domain/happening/rewriting.py",
        '        return "" if self.refuses_own else self.retracted or ""\n',
        '        return self.retracted or ""\n',
        _ADDRESSED,
    ),
    Mutation(
        "a row with a retraction becomes a mark if its reader wants no body",
        "domain/happening/rewriting.py",
        "        return self.after is None and (self.retracted is not None or self.refuses_own)\n",
        "        return self.after is None and self.retracted is not None\n",
        f"{_STEPS}::test_retraction_of_both_bodies_is_remembered",
    ),
    Mutation(
        "the retraction of the last body leaves a mark",
        "domain/happening/rewriting.py",
        "        return self.after is None and (self.retracted is not None or self.refuses_own)\n",
        "        return self.after is None and self.refuses_own\n",
        f"{_STEPS}::test_body_that_comes_after_a_retraction_of_a_sent_one_is_not_sent_again",
    ),
    Mutation(
        "a mark of another body also rejects the event without an own id",
        "adapters/dynamodb/events.py",
        "            if isinstance(stored, Retracted) and not stored.own_id:\n",
        "            if isinstance(stored, Retracted):\n",
        f"{_ROWS}::test_mark_of_another_body_also_rejects_the_body_without_an_own_id",
    ),
    Mutation(
        "a row is written only with the bodies that were read",
        "adapters/dynamodb/event_rows.py",
        "    unchanged: Condition = in_place(stored) & is_same\n",
        "    unchanged: Condition = in_place(stored)\n",
        f"{_ROWS}::test_row_whose_bodies_have_changed_is_neither_moved_nor_removed_nor_amended",
    ),
    Mutation(
        "a pointer is written only at a free id",
        "adapters/dynamodb/happenings/rewriting.py",
        "            condition = absent(now)\n    writes.save(pointer, condition=condition)\n",
        "            condition = None\n    writes.save(pointer, condition=condition)\n",
        f"{_ROWS}::test_pointer_is_written_only_if_its_id_is_free",
    ),
    Mutation(
        "an event that moves with another body is read again",
        "steps/routing/move.py",
        "    if current.revision != stored.revision:\n",
        "    if not current:\n",
        _OVERTAKES,
    ),
    Mutation(
        "a critical event is alone",
        _JOIN,
        "    return event.category in context.critical or event.expires_at is not None\n",
        "    return event.expires_at is not None\n",
        f"{_STEPS}::test_critical_event_is_alone",
    ),
    Mutation(
        "an event that lapses is alone",
        _JOIN,
        "    return event.category in context.critical or event.expires_at is not None\n",
        "    return event.category in context.critical\n",
        f"{_STEPS}::test_critical_event_and_event_that_lapses_are_alone",
    ),
    Mutation(
        "a row has at most ten bodies",
        _JOIN,
        "        len(row.bodies) < MOST_BODIES\n",
        "        len(row.bodies) <= MOST_BODIES\n",
        f"{_STEPS}::test_event_beyond_the_maximum_is_alone",
    ),
    Mutation(
        "a receipt follows the pointer of an event",
        "steps/support/receipt.py",
        "    return at_pointer(at_id, context.events.find(user_id, at_id.row.part_of))\n",
        "    return at_pointer(at_id, None)\n",
        f"{_RECEIPTS}::test_both_events_of_a_waiting_pair_wait",
    ),
    Mutation(
        "a receipt concerns one event of a row",
        "domain/receipts/bodies.py",
        "    if any(body.own_id == own_id for body in stored.bodies):\n",
        "    if stored.bodies:\n",
        f"{_RECEIPTS}::test_event_alone_in_its_row_is_shown_itself",
    ),
    Mutation(
        "an email of a place that a row got after a retraction does not contain the event",
        "domain/receipts/rule.py",
        "    if found.shares_row and retracted_at and retracted_at + CLOCKS <= stored_at:\n",
        "    if found.shares_row and not retracted_at:\n",
        f"{_RECEIPTS}::test_row_that_moves_after_a_retraction_has_no_email_of_the_event",
    ),
    Mutation(
        "the followers of an activity are counted by its own event",
        "steps/support/activity_receipt.py",
        "        part = of_body(found) if isinstance(found, FoundEvent) else found\n",
        "        part = found\n",
        f"{_RECEIPTS}::test_followers_of_an_activity_count_only_its_own_event",
    ),
    Mutation(
        "a marker states that no email contains the row",
        _WRITE,
        "    if mark.is_in_no_email or mark.is_early:\n",
        "    if mark.is_early:\n",
        f"{_RACES}::test_body_that_comes_after_a_retraction_during_the_digest_is_sent",
    ),
    Mutation(
        "a row that may have been sent becomes a marker in its place",
        "adapters/dynamodb/happenings/rewriting.py",
        "        EventRow.why.set(IN_NO_EMAIL) if change.moves else EventRow.why.remove(),\n",
        "        EventRow.why.set(IN_NO_EMAIL),\n",
        f"{_ROWS}::test_retraction_of_the_last_body_leaves_a_mark_with_the_place",
    ),
    Mutation(
        "a run that was created after a retraction does not contain the event",
        "domain/happening/marks.py",
        "all(run.reads_writes_of(mark.retracted_at) for run in covering)\n",
        "not covering\n",
        f"{_NONE}",
    ),
    Mutation(
        "a run that was created before a retraction may contain the event",
        "domain/happening/marks.py",
        "all(run.reads_writes_of(mark.retracted_at) for run in covering)\n",
        "all(run.created_at for run in covering)\n",
        f"{_NONE}",
    ),
    Mutation(
        "the own id decides between equal bodies",
        "domain/happening/bodies.py",
        "lapses, is_followed, late, body.event.own_id\n",
        "lapses, is_followed, late\n",
        f"{_BODIES}::test_own_id_decides_between_equal_bodies",
    ),
    Mutation(
        "a body that lapses is weaker than the others",
        "domain/happening/bodies.py",
        "    return not is_critical(body.schedule), lapses, is_followed, late, body.event.own_id\n",
        "    return not is_critical(body.schedule), is_followed, late, body.event.own_id\n",
        f"{_OTHERS}::test_event_that_lapses_at_the_id_of_the_activity_does_not_remove_the_mention",
    ),
    Mutation(
        "an amendment adds no end to a body",
        _JOIN,
        "own_id=event.id, expires_at=None)\n",
        "own_id=event.id)\n",
        f"{_OTHERS}::test_amendment_that_adds_an_end_does_not_remove_the_other_event",
    ),
    Mutation(
        "a mention in a critical or lapsing event is alone",
        _JOIN,
        "        and not any(stands_alone(body, context) for body in row.bodies)\n",
        "",
        f"{_OTHERS}::test_mention_in_an_event_that_lapses_is_alone",
    ),
    Mutation(
        "a mention in an event of another entity is alone",
        _JOIN,
        "        and all(body.entity.key == event.entity.key for body in row.bodies)\n",
        "",
        f"{_OTHERS}::test_event_of_another_entity_with_the_id_of_the_activity_is_alone",
    ),
    Mutation(
        "a row with a new body is kept as long as any event",
        "domain/happening/rewriting.py",
        "            least_until = until if self._has_new_body(before) else needed or now\n",
        "            least_until = needed or now\n",
        f"{_OTHERS}::test_event_that_joins_an_old_row_is_kept_as_long_as_any_event",
    ),
    Mutation(
        "a pointer without its row does not recognise a repetition",
        "steps/ingest/age.py",
        "if pointers.get(event_id, event_id) in present}\n",
        "if event_id in present}\n",
        f"{_OTHERS}::test_repetition_is_too_old_once_the_row_of_the_pointer_has_expired",
    ),
    Mutation(
        "no content that is not critical enters a critical email that may have been sent",
        _WRITE,
        "    if is_critical(row.schedule) and settlement.shown.category not in context.critical:\n",
        "    if is_critical(row.schedule) and not settlement:\n",
        f"{_OTHERS}"
        "::test_nothing_that_is_not_critical_enters_a_critical_email_that_may_have_been_sent",
    ),
    Mutation(
        "an unwanted body stays in a row that was sent",
        "domain/happening/bodies.py",
        "    if not is_retraction:\n",
        "    if not bodies:\n",
        f"{_OTHERS}::test_unwanted_event_stays_in_a_row_that_was_sent",
    ),
    Mutation(
        "a receipt does not state that an email contains a retracted event that shared its row",
        "domain/receipts/rule.py",
        "        return Certainty.UNKNOWN if found.shares_row else _certainty_of(run)\n",
        "        return _certainty_of(run)\n",
        f"{_RECEIPTS}::test_event_that_is_retracted_after_its_email_names_the_email",
    ),
)
