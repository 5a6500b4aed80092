"""The rules of muted things."""

from typing import Final

from proofs.mutations.mutation import Mutation

_MUTES = "domain/muting/mutes.py"
_MUTED_RULE = "domain/muting/muted.py"
_WHO_IS_MUTED = "tests/unit/support/test_muted.py"
_MUTED = "tests/unit/routing/test_muted_things.py"
_MUTING = "tests/unit/preferences/test_muting.py"

RULES: Final = (
    Mutation(
        "an event about a muted thing is not stored",
        "steps/routing/target.py",
        "            if reader.mutes and is_muted(event, reader.mutes, context.critical):\n"
        "                return Outcome.MUTED\n",
        "",
        f"{_MUTED}::test_events_about_muted_thing_are_not_stored",
    ),
    Mutation(
        "a mute does not apply to critical events",
        _MUTED_RULE,
        " or event.category in critical:\n",
        ":\n",
        f"{_MUTED}::test_critical_events_about_muted_thing_are_sent",
    ),
    Mutation(
        "a mute does not apply to a requested link",
        _MUTED_RULE,
        "event.category == NEW_LINK or ",
        "",
        f"{_WHO_IS_MUTED}::test_everything_that_reads_mutes_agrees_on_every_event",
    ),
    Mutation(
        "the category decides whether a mute applies, not the schedule",
        "steps/support/pending.py",
        "is_muted(each.event, subscriber.mutes, critical):\n",
        "(is_muted(each.event, subscriber.mutes, ()) and not each.schedule.startswith('nowx')):\n",
        f"{_WHO_IS_MUTED}::test_everything_that_reads_mutes_agrees_on_every_event",
    ),
    Mutation(
        "a mute applies to an event however it reaches the reader",
        _MUTED_RULE,
        "(mute.entity == event.entity.key or mute.entity in event.via)",
        "mute.entity == event.entity.key",
        f"{_MUTED}::test_activity_on_muted_thing_or_below_it_is_not_stored",
    ),
    Mutation(
        "the end of a mute during the routing of an event routes the event again",
        "steps/routing/target.py",
        'attrgetter("choices", "mutes", "status",',
        'attrgetter("choices", "status",',
        f"{_MUTED}::test_unmute_at_every_call_of_the_writer_loses_no_event",
    ),
    Mutation(
        "the write of a mute makes later runs route their events again",
        "domain/subscribers/subscriber.py",
        "mutes=mutes, routes_since=since, revision=self.revision + 1)\n",
        "mutes=mutes, revision=self.revision + 1)\n",
        f"{_MUTED}::test_waiting_events_about_muted_thing_are_not_sent",
    ),
    Mutation(
        "the write of a mute is visible in the last look of a worker",
        "domain/subscribers/subscriber.py",
        "mutes=mutes, routes_since=since, revision=self.revision + 1)\n",
        "mutes=mutes, routes_since=since)\n",
        f"{_MUTED}::test_two_mutes_at_once_are_both_stored",
    ),
    Mutation(
        "a profile keeps the mutes of its reader",
        "steps/ingest/profiles.py",
        "        mutes=current.mutes,\n",
        "",
        f"{_MUTED}::test_profile_keeps_mutes_and_erasure_deletes_them",
    ),
    Mutation(
        "a mute that arrives before the profile is kept",
        "steps/ingest/profiles.py",
        "                mutes=early.mutes if early else (),\n",
        "",
        f"{_MUTED}::test_mute_before_the_profile_is_in_force_from_its_first_event",
    ),
    Mutation(
        "a mute of one thing too many is refused",
        _MUTES,
        "        if is_new and len(in_force(tuple(by_entity.values()))) >= MOST_MUTED:\n",
        "        if False:\n",
        f"{_MUTING}::test_mute_of_one_thing_too_many_is_refused_and_the_others_stay",
    ),
    Mutation(
        "the latest change of a mute counts",
        _MUTES,
        "        if before and (before.at, before.is_muted) >= (change.at, change.is_muted):\n",
        "        if before == change:\n",
        f"{_MUTING}::test_changes_in_any_order_have_the_same_result",
    ),
    Mutation(
        "the undo of a mute does not end a later mute",
        "steps/preferences/leaving.py",
        "    end = Mute(entity, muted_at).ended\n",
        "    end = Mute(entity, context.routing.clock()).ended\n",
        f"{_MUTING}::test_old_undo_does_not_end_a_later_mute",
    ),
    Mutation(
        "an outdated preference page does not end a later mute",
        "domain/subscribers/preference_form.py",
        '    return f"{entity_mark(mute.entity)}.{mute.at.isoformat()}"\n',
        "    return entity_mark(mute.entity)\n",
        f"{_MUTING}::test_outdated_page_does_not_end_a_later_mute",
    ),
    Mutation(
        "a press of the button counts, also if a service's clock was ahead",
        _MUTES,
        "max(now, latest + _STEP) if latest else now",
        "now",
        f"{_MUTING}::test_mute_counts_even_if_the_clock_of_a_service_was_ahead",
    ),
)
