"""The rules of messages from services."""

from typing import Final

from proofs.mutations.mutation import Mutation

_LINKS = "tests/unit/preferences/test_which_links_work.py"
_LONG = "tests/unit/ingest/test_long_messages.py"
_TAKING_BACK = "tests/unit/subscribers/test_taking_back.py"
_RESUBSCRIBE = "tests/unit/subscribers/test_resubscribe.py"

RULES: Final = (
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
        "an erasure ends the runs",
        "steps/ingest/erasure.py",
        "    for run in under_way if erased else ():\n",
        "    for run in under_way if not erased else ():\n",
        "tests/unit/ingest/test_profiles.py"
        "::test_attack_tables_contain_no_personal_data_after_erasure",
    ),
    Mutation(
        "a link is invalid after an erasure",
        "steps/ingest/profiles.py",
        "                addressed_after=erased_at,\n",
        "",
        f"{_LINKS}::test_attack_former_owner_of_id_cannot_change_choices",
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
)
