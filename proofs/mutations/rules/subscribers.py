"""The rules of profiles, choices, unsubscriptions, returns and pages for readers."""

from typing import Final

from proofs.mutations.mutation import Mutation

_ACTORS = "tests/unit/ingest/test_amended_actors.py"
_LEAVING = "tests/unit/subscribers/test_leaving.py"
_TAKING_BACK = "tests/unit/subscribers/test_taking_back.py"
_CONSENT = "tests/unit/subscribers/test_consent.py"
_RESUBSCRIBE = "tests/unit/subscribers/test_resubscribe.py"
_RETURN = "tests/unit/subscribers/test_return_reader.py"
_BY_CATEGORY = "tests/unit/subscribers/test_choices_by_category.py"
_ONE_ROW = "tests/unit/sweep/test_one_row.py"

RULES: Final = (
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
        "a page of follows can be saved even if it now ends at another follow",
        "steps/preferences/page.py",
        "    return replace(overview, follows=(*overview.follows, *others))\n",
        "    return overview\n",
        "tests/unit/preferences/test_page.py"
        "::test_shown_follow_is_saved_after_page_boundaries_move",
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
        "fan-out does not visit a new reader before an event is waiting",
        "steps/subscribers/schedules.py",
        "        state=ScheduleState.ARMED if sources else ScheduleState.IDLE,\n",
        "",
        "tests/unit/routing/test_arming.py::test_new_reader_without_waiting_events_is_not_visited",
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
        "a late follow finds activities that an amendment moved away from the entity",
        "domain/subscribers/following.py",
        "        return side in self.former or (",
        "        return (",
        f"{_ACTORS}::test_crashed_late_follow_leaves_no_event_of_moved_activity",
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
        "after a rollback, the older version reads the same choices",
        "domain/subscribers/whole_maps.py",
        "    instants = chosen_at | {at for at, _ in without_repeats(by_service)}\n",
        "    instants = chosen_at\n",
        f"{_BY_CATEGORY}::test_previous_version_reads_the_same_choices_after_a_rollback",
    ),
    Mutation(
        "a link with a smaller scope is valid for the address that it was sent to",
        "steps/preferences/leaving.py",
        "if isinstance(reader, Subscriber) and is_at(reader, link.address) else None",
        "if isinstance(reader, Subscriber) else None",
        f"{_LEAVING}::test_link_for_a_former_address_changes_no_choice",
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
        "a resubscription applies to the address of its link",
        "steps/subscribers/resubscribe.py",
        " or not is_at(reader, address):\n",
        ":\n",
        "tests/unit/subscribers/test_resubscribe.py"
        "::test_attack_former_owner_of_an_id_cannot_resubscribe_the_new_owner",
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
        "an unsubscribe link is valid only for its own address",
        "steps/subscribers/unsubscribe.py",
        " or not is_at(reader, address):\n            suppressions.add",
        ":\n            suppressions.add",
        "tests/unit/subscribers/test_unsubscribe.py"
        "::test_attack_link_for_a_former_address_cannot_unsubscribe_the_new_address",
    ),
)
