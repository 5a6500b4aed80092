"""The rules of an event that leaves the row of its happening."""

from typing import Final

from proofs.mutations.mutation import Mutation

_STEPS = "tests/unit/routing/test_happening.py"
_RACES = "tests/unit/routing/test_happening_races.py"
_LIMIT = "tests/unit/routing/test_happening_limit.py"
_ROWS = "tests/contract/dynamodb/test_happenings.py"
_JOIN = "steps/routing/happening.py"
_WRITE = "steps/routing/rewriting.py"
_LEFT = "tests/unit/routing/test_happening_left_out.py"
_FUNCTIONS = "tests/functions/test_happening_left_out.py"
_WINDOW = "steps/delivery/windows.py"
_PLACE = "EventRow.stored == stored_key(stored.schedule, stored.stored_at)"
_REMOVAL = "adapters/dynamodb/deferred_events.py"

RULES: Final = (
    Mutation(
        "one body is left out instead of the row",
        _WINDOW,
        "        if len(over) == len(row.bodies):\n",
        "        if over:\n",
        f"{_LEFT}::test_comment_is_sent_where_it_would_be_without_the_mention",
    ),
    Mutation(
        "a row is left out if no body may be shown",
        _WINDOW,
        "        if len(over) == len(row.bodies):\n",
        "        if not row.bodies:\n",
        f"{_LEFT}::test_row_is_left_out_if_no_event_may_be_shown",
    ),
    Mutation(
        "a row that may have been sent shows another body when it is sent again",
        _WRITE,
        "content_of(row) if was_sent else showing_another(row, rest, change.after)\n",
        "content_of(row)\n",
        f"{_LEFT}::test_row_that_may_have_been_sent_shows_another_event_when_it_is_sent_again",
    ),
    Mutation(
        "a row that may have been sent keeps all bodies",
        "domain/happening/bodies.py",
        "shown=body, others=without_body(row.bodies, body.own_id))\n",
        "shown=body, others=without_body(rest, body.own_id))\n",
        f"{_LEFT}::test_row_that_may_have_been_sent_shows_another_event_when_it_is_sent_again",
    ),
    Mutation(
        "a body that the templates cannot show leaves the row alone",
        _REMOVAL,
        "        condition &= EventRow.others.does_not_exist()\n",
        "",
        f"{_ROWS}::test_row_that_another_event_has_joined_is_not_removed",
    ),
    Mutation(
        "a row is not left out with a body that has joined it",
        _REMOVAL,
        "            condition=in_place_with_bodies(stored) & (EventRow.body == body_of(event)),\n",
        f"            condition=({_PLACE}) & (EventRow.body == body_of(event)),\n",
        f"{_ROWS}::test_row_that_another_event_has_joined_is_not_removed",
    ),
    Mutation(
        "a row is not withdrawn with a body that has joined it",
        _REMOVAL,
        "in_place_with_bodies(stored) & (EventRow.body == body_of(stored.event)),\n"
        "                    because",
        f"({_PLACE}) & (EventRow.body == body_of(stored.event)),\n                    because",
        f"{_ROWS}::test_row_that_another_event_has_joined_is_not_removed",
    ),
    Mutation(
        "a row does not lapse with a body that has joined it",
        _REMOVAL,
        "        over: Condition = in_place_with_bodies(stored) & is_over\n",
        f"        over: Condition = ({_PLACE}) & is_over\n",
        f"{_ROWS}::test_row_that_another_event_has_joined_is_not_removed",
    ),
    Mutation(
        "a body is left out in a transaction with the runs that may have read it",
        _WRITE,
        "    return replace(change, moves=not stays), guard\n",
        "    return replace(change, moves=not stays), Guard()\n",
        f"{_LEFT}::test_worker_that_dies_after_it_left_the_mention_out_lets_no_other_send_it",
    ),
    Mutation(
        "a body that an email may contain is not left out",
        _WRITE,
        "was_sent = row.stored_at <= sent_until(chain) or row.schedule == Unsent.GIVEN_UP\n",
        "was_sent = False\n",
        f"{_LEFT}::test_mention_that_is_being_sent_is_not_left_out",
    ),
    Mutation(
        "a row waits where it would without the body that is left out",
        _WRITE,
        "    return replace(change, moves=not stays), guard\n",
        "    return replace(change, moves=not stays and not guard), guard\n",
        f"{_LEFT}::test_comment_is_sent_where_it_would_be_without_the_mention",
    ),
    Mutation(
        "a body that is left out keeps its reason",
        _JOIN,
        "row, rest, inputs, row.event, None, tokens, left_out=pointed, is_repeatable=False\n",
        "row, rest, inputs, row.event, None, tokens, left_out=(), is_repeatable=False\n",
        f"{_LEFT}::test_event_that_was_left_out_keeps_its_reason",
    ),
    Mutation(
        "a retracted body is not stored as left out",
        _JOIN,
        "pointed = [each for each in left_out if _is_pointer(rows.get(each.event.own_id))]\n",
        "pointed = left_out\n",
        f"{_LEFT}::test_mention_whose_retraction_was_interrupted_is_left_out",
    ),
    Mutation(
        "an amended body is not left out",
        _JOIN,
        "        left_out = [each for each in bodies if each.event in row.bodies]\n",
        "        left_out = bodies\n",
        f"{_LEFT}::test_mention_that_is_amended_in_between_stays_when_the_reply_is_left_out",
    ),
    Mutation(
        "a body that its reader has seen does not join again",
        _JOIN,
        "            if replace(pointer, event=event).is_left_out:\n",
        "            if not pointer:\n",
        f"{_LEFT}::test_repetition_of_a_seen_mention_costs_no_write",
    ),
    Mutation(
        "a body that was left out joins its happening again",
        _JOIN,
        "            if not pointer.part_of or pointer.schedule != Unsent.EXCLUDED:\n",
        "            if pointer:\n",
        f"{_LEFT}::test_mention_that_is_published_again_after_the_comment_was_sent_is_not_sent",
    ),
    Mutation(
        "a later body is sent although the others were seen",
        _WRITE,
        "    return tuple(body for body in bodies if body.counts_at > row.seen_at) or bodies\n",
        "    return bodies\n",
        f"{_LEFT}::test_event_that_arrives_after_the_others_were_left_out_is_sent",
    ),
    Mutation(
        "events of an activity that was retracted early share a row",
        _JOIN,
        "        if isinstance(row, Retracted) and not (row.stored_at or row.is_early):\n",
        "        if isinstance(row, Retracted) and not row.stored_at:\n",
        f"{_STEPS}::test_events_of_an_activity_that_was_retracted_early_are_in_one_email",
    ),
    Mutation(
        "an event of an activity that was retracted early takes a token",
        _WRITE,
        "    if mark.is_in_no_email or mark.is_early:\n",
        "    if mark.is_in_no_email:\n",
        f"{_LIMIT}::test_event_of_an_activity_that_was_retracted_early_takes_a_token",
    ),
    Mutation(
        "a retraction of a body that was left out meanwhile reads the row again",
        "adapters/dynamodb/events.py",
        "            condition=is_pointer_to(pointer.part_of),\n",
        "            condition=EventRow.part_of.exists(),\n",
        f"{_FUNCTIONS}::test_retraction_of_a_mention_that_is_left_out_meanwhile_is_final",
    ),
    Mutation(
        "a body that was left out keeps its activity",
        "steps/routing/route.py",
        "    is_pointer = not isinstance(existing, Retracted) or existing.is_pointer\n",
        "    is_pointer = isinstance(existing, Retracted) and existing.is_pointer\n",
        f"{_LEFT}::test_amendment_of_a_mention_that_was_left_out_is_not_in_a_second_email",
    ),
    Mutation(
        "a body that was left out keeps its newest content",
        _JOIN,
        "    if event.amends(left_out) or not left_out.amended_at:\n",
        "    if left_out:\n",
        f"{_LEFT}::test_repetition_of_an_older_message_does_not_bring_back_its_content",
    ),
    Mutation(
        "no body is left out while its reader gets no email",
        "steps/delivery/prepare.py",
        "    if due.sent or due.to_defer or due.partly_over:\n        return None\n",
        "    if due.partly_over:\n        return _divided(run, due, context)\n"
        "    if due.sent or due.to_defer:\n        return None\n",
        f"{_LEFT}::test_comment_waits_for_a_reader_who_returns",
    ),
    Mutation(
        "a forecast shows the other bodies of a row",
        "steps/support/dry_run.py",
        "    if isinstance(prepared, Ending) and prepared.partly_over:\n",
        "    if isinstance(prepared, Ending) and not prepared:\n",
        f"{_LEFT}::test_forecast_of_a_digest_that_leaves_one_event_out",
    ),
    Mutation(
        "a row keeps the time of a retraction before its first body",
        "domain/happening/rewriting.py",
        "        return (before.retracted_at if isinstance(before, Retracted) else None) or now\n",
        "        return now\n",
        f"{_LEFT}::test_receipt_of_an_activity_that_was_retracted_first_names_no_email",
    ),
    Mutation(
        "a run that was claimed long after a retraction has not read the event",
        "domain/delivery/run.py",
        "        claimed_at = self.claimed_at if self.attempt == 1 else None\n",
        "        claimed_at = None\n",
        f"{_RACES}::test_body_that_comes_after_a_claim_long_after_the_retraction_is_sent",
    ),
)
