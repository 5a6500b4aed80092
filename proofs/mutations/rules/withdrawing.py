"""The rules of withdrawals, after which emails leave out events of an actor or an entity."""

from typing import Final

from proofs.mutations.mutation import Mutation

_LIST = "domain/withdrawing/withdrawals.py"
_RULE = "domain/withdrawing/withdrawn.py"
_WITHDRAWN = "tests/unit/delivery/test_withdrawn.py"
_WITHDRAWALS = "tests/unit/delivery/test_withdrawals.py"
_STORE = "tests/contract/control/test_withdrawals.py"
_EVENTS = "tests/contract/dynamodb/test_withdrawn_events.py"
_VIEW = "tests/unit/preferences/test_view.py"

RULES: Final = (
    Mutation(
        "an event of a withdrawn actor is left out",
        _RULE,
        'self._actors.get(brief.person or "")',
        "None",
        f"{_WITHDRAWN}::test_events_of_a_withdrawn_actor_are_left_out",
    ),
    Mutation(
        "an event about a withdrawn entity is left out",
        _RULE,
        ", self._entities.get(brief.thing)]",
        "]",
        f"{_WITHDRAWN}::test_events_about_a_withdrawn_entity_are_left_out",
    ),
    Mutation(
        "an event that came through a withdrawn entity is left out",
        _RULE,
        "            times += map(self._entities.get, via())\n",
        "            pass\n",
        f"{_WITHDRAWN}::test_events_that_came_through_a_withdrawn_entity_are_left_out",
    ),
    Mutation(
        "an event that is later than the withdrawal is sent",
        _RULE,
        "if at and since <= at)",
        "if at)",
        f"{_WITHDRAWN}::test_later_event_of_a_withdrawn_actor_is_sent",
    ),
    Mutation(
        "an event at the time of the withdrawal is left out",
        _RULE,
        "since <= at",
        "since < at",
        f"{_WITHDRAWN}::test_event_at_the_moment_of_the_withdrawal_is_left_out",
    ),
    Mutation(
        "a requested link is sent although its entity was withdrawn",
        _RULE,
        "        if brief.category == NEW_LINK:\n            return None\n",
        "",
        f"{_WITHDRAWN}::test_requested_link_is_sent_although_its_entity_was_withdrawn",
    ),
    Mutation(
        "an actor and an entity with the same id are different",
        _RULE,
        "for each in applying if each.kind is kind}",
        "for each in applying}",
        f"{_WITHDRAWN}::test_actor_and_entity_with_the_same_id_are_different",
    ),
    Mutation(
        "only withdrawn entities require decoding the events of followers",
        _RULE,
        "if self._entities and not brief.is_addressed:",
        "if not brief.is_addressed:",
        f"{_WITHDRAWN}::test_only_withdrawn_entities_require_decoding_events_of_followers",
    ),
    Mutation(
        "a withdrawn event on hold is left out instead of deferred",
        "steps/delivery/windows.py",
        "            elif withdrawn and (at := withdrawn.at_of(stored)):\n",
        "            elif withdrawn and event.category not in self.on_hold and (\n"
        "                at := withdrawn.at_of(stored)\n"
        "            ):\n",
        f"{_WITHDRAWN}::test_withdrawn_event_on_hold_is_left_out",
    ),
    Mutation(
        "a withdrawn event does not count as expired",
        "steps/delivery/windows.py",
        "stored.seen_at or stored.withdrawn_at\n",
        "stored.seen_at\n",
        f"{_WITHDRAWN}::test_run_of_withdrawn_events_is_skipped_with_the_reason",
    ),
    Mutation(
        "a withdrawal during a delivery is applied until the claim",
        "steps/delivery/deliver.py",
        "    if context.decisions().withdrawals != due.withdrawals:\n        return True\n",
        "",
        f"{_WITHDRAWN}::test_withdrawal_before_the_last_check_of_a_delivery_stops_the_event",
    ),
    Mutation(
        "a withdrawn event that may have been sent is given up",
        "steps/delivery/deliver.py",
        "partial(deferred.withdraw, for_good=may_have_been_sent)",
        "partial(deferred.withdraw, for_good=())",
        f"{_WITHDRAWN}::test_withdrawn_event_that_may_have_been_sent_is_given_up",
    ),
    Mutation(
        "an event is withdrawn in the transaction that raises the epoch of its run",
        "adapters/dynamodb/deferred_events.py",
        "                raise_epoch(run, writes)\n                for event, place",
        "                for event, place",
        f"{_EVENTS}::test_worker_with_an_older_list_cannot_claim_after_an_event_was_withdrawn",
    ),
    Mutation(
        "an event that was amended since the read is not withdrawn",
        "adapters/dynamodb/deferred_events.py",
        "in_place_with_bodies(stored) & (EventRow.body == body_of(stored.event)),\n",
        "in_place_with_bodies(stored),\n",
        f"{_EVENTS}::test_event_that_changed_since_the_read_is_not_withdrawn",
    ),
    Mutation(
        "an event that moved since the read is not withdrawn",
        "adapters/dynamodb/deferred_events.py",
        "in_place_with_bodies(stored) & (EventRow.body == body_of(stored.event)),\n",
        "EventRow.body == body_of(stored.event),\n",
        f"{_EVENTS}::test_event_that_changed_since_the_read_is_not_withdrawn",
    ),
    Mutation(
        "an event that returns loses the time of its withdrawal",
        "adapters/dynamodb/events.py",
        "        reason.append(EventRow.withdrawn_at.remove())\n",
        "        pass\n",
        f"{_EVENTS}::test_event_that_returns_loses_the_time_of_the_withdrawal",
    ),
    Mutation(
        "the views of a sent email leave out withdrawn events",
        "steps/preferences/view.py",
        " and not (withdrawn and withdrawn.at_of(stored)):\n",
        ":\n",
        f"{_VIEW}::test_views_of_a_sent_email_leave_out_what_was_withdrawn_afterwards",
    ),
    Mutation(
        "the preview of pending events leaves out withdrawn events",
        "steps/support/pending.py",
        "        if not withdrawn.at(each.event):\n    ",
        "    ",
        f"{_WITHDRAWN}::test_preview_api_and_forecast_leave_withdrawn_events_out",
    ),
    Mutation(
        "the API does not count withdrawn events as waiting",
        "steps/api/reader.py",
        "            if withdrawn.at(event.event):\n                continue\n",
        "",
        f"{_WITHDRAWN}::test_preview_api_and_forecast_leave_withdrawn_events_out",
    ),
    Mutation(
        "a full list refuses a withdrawal",
        _LIST,
        "        if len(others) >= MOST_WITHDRAWN:\n            raise WithdrawalsFull\n",
        "        others = others[-MOST_WITHDRAWN + 1 :]\n",
        f"{_WITHDRAWALS}::test_full_list_refuses_a_withdrawal_and_keeps_the_oldest",
    ),
    Mutation(
        "a repeated withdrawal replaces the earlier one",
        _LIST,
        "            if (each.kind, each.id) != (withdrawal.kind, withdrawal.id)\n",
        "",
        f"{_WITHDRAWALS}::test_repetition_renews_the_time",
    ),
    Mutation(
        "an ended withdrawal does not apply and makes room",
        _LIST,
        "for each in withdrawals if now < each.until)",
        "for each in withdrawals)",
        f"{_WITHDRAWALS}::test_ended_withdrawal_is_not_listed_and_makes_room",
    ),
    Mutation(
        "a change of an outdated list changes nothing",
        "adapters/dynamodb/control/withdrawals.py",
        "        unchanged = ControlRow.revision == before\n",
        "        unchanged = ControlRow.kind.exists()\n",
        f"{_STORE}::test_change_of_an_outdated_list_changes_nothing",
    ),
    Mutation(
        "workers read the withdrawals with other decisions",
        "adapters/dynamodb/control/decisions.py",
        "lambda row: withdrawals_in(row).withdrawals if row else (),\n",
        "lambda row: (),\n",
        f"{_STORE}::test_worker_reads_the_list_once_a_minute_with_other_decisions",
    ),
    Mutation(
        "a withdrawal applies as long as an event can arrive late and its row is then kept",
        "domain/scheduling/lifetime.py",
        "    return longest_kept(least) + least + _DAY\n",
        "    return longest_kept(least)\n",
        f"{_WITHDRAWALS}::test_withdrawal_outlasts_every_row_of_an_event_that_arrives_late",
    ),
)
