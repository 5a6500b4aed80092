"""The scenarios as data, for each policy where it makes a difference."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.signals import Policy
from gazette.domain.scheduling.growing import LAPSES_SOON
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.templates.settings import SourcePolicy

from proofs.prove.acts import (
    Act,
    Overtake,
    at,
    bury_messages,
    cancel,
    cap,
    change_template,
    choose,
    complain,
    copy,
    copy_that_dies,
    during,
    erase,
    event_about_first,
    event_of_unknown_attempt,
    follow,
    give_time,
    happen,
    hold_category,
    import_all,
    leave,
    lose_messages,
    move_hour,
    mute_behind_an_open_page,
    old_message,
    push_version,
    put,
    put_again,
    release,
    retract,
    roll_back,
    see,
    share_address,
)
from proofs.prove.life import Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import EVERY_WAY, SLOW, Scenario, skews
from proofs.prove.strikes import How
from tests.builders import a_bounce, a_complaint

_NOW, _ACCOUNT, _GOOD = Answer.REFUSES_NOW, Answer.REFUSES_ACCOUNT, Answer.REFUSES_FOR_GOOD
_LOST, _NEITHER, _YES = Answer.LOST, Answer.NEITHER, Answer.ACCEPTS
_AT_ONCE = Frequency.IMMEDIATE
_BEFORE = timedelta(days=-2)
_SPREAD = timedelta(minutes=1)
"""The delivery delay of a message that leaves time for another action before it."""


def _plain() -> Iterator[Scenario[Life]]:
    for policy in Policy:
        for evidence in Evidence:
            yield Scenario(name=f"happy/{policy}/{evidence}", policy=policy, evidence=evidence)
        yield Scenario(name=f"retry/{policy}", policy=policy, answers=(_NOW, _NOW))
    yield Scenario(name="empty", events=(), days=2)
    yield Scenario(
        name="empty/retracted",
        acts=(at(retract("e1"), seconds=10), at(retract("e2"), seconds=10)),
        spread=_SPREAD,
    )
    yield Scenario(name="retry/to the end", answers=(_NOW,) * 6)
    yield Scenario(name="retry/to the end/twice", answers=(_NOW,) * 12)
    yield Scenario(name="retry/to the end/copies", answers=(_NOW,) * 6, copies=2)
    yield Scenario(
        name="retry/to the end/at the hour",
        answers=(_NOW,) * 6,
        redriven_after=timedelta(hours=13, minutes=24),
    )
    yield Scenario(
        name="retry/to the end/at once",
        answers=(_NOW,) * 6,
        frequency=_AT_ONCE,
        counted_from=timedelta(hours=-13),
    )
    yield Scenario(name="refused for good", answers=(_GOOD,))
    yield Scenario(name="refused account", answers=(_ACCOUNT,) * 3)
    yield Scenario(name="arrival", counted_from=_BEFORE)
    yield Scenario(
        name="arrival/activity",
        counted_from=_BEFORE,
        events=(),
        readers=("ann", "cy"),
        acts=(
            at(follow("p1"), hours=-5),
            at(follow("p1", "cy"), hours=-5),
            at(happen("p1", "ann", "cy"), hours=-4),
        ),
    )
    yield Scenario(
        name="arrival/lists",
        counted_from=timedelta(hours=-6),
        events=(),
        readers=("ann", "cy"),
        acts=(
            at(import_all(_AT_ONCE, "ann", "cy", follows="p1"), hours=-5),
            at(happen("p1", "ann", "cy"), hours=-4),
        ),
    )
    yield Scenario(name="fan-out/three readers", readers=("ann", "bo", "cy"), events=("e1",))
    yield Scenario(name="weekly", frequency=Frequency.WEEKLY, days=8)


def _versions() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the templates change between a claim and its retry."""
    for first, second in ((7, 8), (7, 0), (0, 7)):
        pushes = (at(push_version(first), hours=-1), at(push_version(second), seconds=50))
        yield Scenario(
            name=f"version/refused/{first} then {second}", answers=(_NOW, _NOW), acts=pushes
        )
        yield Scenario(
            name=f"version/unknown/{first} then {second}",
            answers=(_NEITHER,),
            evidence=Evidence.NEXT_DAY,
            acts=pushes,
            days=2,
        )
    yield Scenario(
        name="version/in between",
        acts=(at(push_version(7), hours=-1), at(push_version(8), seconds=30)),
        spread=_SPREAD,
    )


def _content() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a content source that is available, or unavailable for a while."""
    asking = Scenario[Life](name="content", asks=True, days=2, settling=4)
    for down in (0, 3, 8):
        for events in (("e1",), ()):
            has = "events" if events else "none"
            yield replace(
                asking, name=f"content/down {down}/{has}", source_down=down, events=events, days=3
            )
    yield replace(asking, name="content/copies", copies=2)
    yield replace(asking, name="content/spread", spread=_SPREAD)
    yield replace(asking, name="content/waits", source_down=12, source_policy=SourcePolicy.WAIT)
    yield replace(asking, name="content/retry", answers=(_NOW, _NOW))
    yield replace(asking, name="content/unknown", answers=(_LOST,), evidence=Evidence.LATER)
    yield replace(asking, name="content/event comes", acts=(at(put("e3"), seconds=1),), days=3)


def _unknown() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the provider's answer is lost once or twice, with later evidence."""
    for policy in Policy:
        for answer in (_LOST, _NEITHER):
            for evidence in Evidence:
                yield Scenario(
                    name=f"unknown/{answer}/{evidence}/{policy}",
                    policy=policy,
                    answers=(answer,),
                    evidence=evidence,
                )
        for evidence in (Evidence.SOON, Evidence.LATER, Evidence.NEXT_DAY, Evidence.NEVER):
            yield Scenario(
                name=f"unknown twice/{evidence}/{policy}",
                policy=policy,
                answers=(_LOST, _LOST),
                evidence=evidence,
                days=2,
            )
        yield Scenario(
            name=f"unknown, then refused/{policy}",
            policy=policy,
            answers=(_LOST, _NOW, _ACCOUNT, _GOOD),
            evidence=Evidence.NEXT_DAY,
            acts=(at(put("e3"), hours=30),),
            days=3,
        )
        yield Scenario(
            name=f"unknown, then retried/{policy}",
            policy=policy,
            answers=(_LOST, _NOW, _NOW, _NOW, _NOW),
            evidence=Evidence.NEXT_DAY,
            acts=(at(put("e3"), hours=20),),
            days=2,
        )
        yield Scenario(
            name=f"unknown, and more to send/{policy}",
            policy=policy,
            answers=(_NEITHER,),
            evidence=Evidence.NEVER,
            acts=(at(put("e3"), hours=2),),
            days=2,
        )
        yield Scenario(
            name=f"unknown, retracted/{policy}",
            policy=policy,
            answers=(_LOST,),
            evidence=Evidence.NEVER,
            acts=(at(retract("e1"), minutes=4), at(retract("e2"), minutes=4)),
        )


def _messages() -> Iterator[Scenario[Life]]:
    """Yield scenarios with lost, dead, redriven, duplicated and concurrent messages."""
    old = [at(old_message(), minutes=10), at(old_message(), hours=2), at(old_message(), hours=25)]
    for policy in Policy:
        for answers in ((), (_NOW,), (_LOST,), (_ACCOUNT,)):
            label = f"{'/'.join(answers) or 'accepts'}/{policy}"
            evidence = Evidence.LATER if answers == (_LOST,) else Evidence.SOON
            yield Scenario(
                name=f"redrive/{label}",
                policy=policy,
                answers=answers,
                evidence=evidence,
                acts=tuple(old),
                days=2,
            )
            yield Scenario(
                name=f"duplicate message/{label}",
                policy=policy,
                answers=answers,
                evidence=evidence,
                copies=2,
            )
            yield Scenario(
                name=f"two workers/{label}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATER,
                meanwhile=copy,
                hows=(),
            )
    yield Scenario(
        name="message lost",
        acts=(at(lose_messages, seconds=10), at(put("e3"), hours=1)),
        spread=_SPREAD,
    )
    yield Scenario(
        name="dead letter",
        acts=(at(bury_messages, seconds=10), at(put("e3"), hours=1)),
        spread=_SPREAD,
    )


def _supersede() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the first run is still open when the second is due."""
    for policy in Policy:
        for answers in ((), (_LOST,), (_NEITHER,), (_NOW,)):
            yield Scenario(
                name=f"supersede/still on its way/{'/'.join(answers) or 'accepts'}/{policy}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATE,
                acts=(
                    at(bury_messages, seconds=10),
                    at(put("e3"), hours=23, minutes=59, seconds=42),
                ),
                days=2,
                spread=_SPREAD,
                lateness=timedelta(days=60),
                redriven_after=timedelta(hours=23, minutes=59, seconds=40),
                sweeps_from=timedelta(hours=24, minutes=30),
            )
        yield Scenario(
            name=f"supersede/{policy}",
            policy=policy,
            answers=(_ACCOUNT,) * 4,
            evidence=Evidence.LATER,
            acts=(
                at(put("e3"), hours=3),
                at(old_message(), hours=25),
                at(old_message(2), hours=49),
            ),
            days=2,
        )
        yield Scenario(
            name=f"supersede/while refused/{policy}",
            policy=policy,
            answers=(_NOW,) * 4 + (_LOST,),
            evidence=Evidence.NEXT_DAY,
            acts=(at(put("e3"), hours=20), at(old_message(), hours=25)),
            days=2,
        )


_STOPS: dict[str, Overtake] = {
    "cancel": during(cancel),
    "unsubscribe": during(leave),
    "retract": during(retract("e1")),
    "retract all": during(retract("e1"), retract("e2")),
    "mute": during(choose(Frequency.NEVER)),
    "at once instead": during(choose(_AT_ONCE)),
    "weekly instead": during(choose(Frequency.WEEKLY)),
    "later hour": during(move_hour(11)),
    "erase": during(erase),
    "another event": during(put("e3")),
}


def _stops() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which an action interrupts a worker's calls."""
    for name, overtake in _STOPS.items():
        yield Scenario(name=f"stop/{name}", meanwhile=overtake, hows=())
    yield Scenario(
        name="stop/mute/open page",
        acts=(at(mute_behind_an_open_page, minutes=-30), at(put("e3", in_vain=True), hours=1)),
        counted_from=timedelta(minutes=-31),
        days=2,
    )
    for policy in Policy:
        for name in ("cancel", "unsubscribe", "retract", "at once instead", "mute"):
            yield Scenario(
                name=f"stop/{name}/unknown/{policy}",
                policy=policy,
                answers=(_LOST,),
                evidence=Evidence.LATER,
                meanwhile=_STOPS[name],
                hows=(),
            )
    for name, when in {"before": -0.5, "due": 10, "after": 120.0}.items():
        yield Scenario(
            name=f"cancel/{name}",
            readers=("ann", "bo"),
            answers=(_NOW, _LOST),
            acts=(at(cancel, seconds=when),),
            spread=_SPREAD,
        )


def _at_once() -> Iterator[Scenario[Life]]:
    """Yield scenarios with immediate email, where no later digest includes the unsent events."""
    for policy in Policy:
        cases: dict[str, tuple[Sequence[Answer], Evidence]] = {
            "happy": ((), Evidence.SOON),
            "retry": ((_NOW,), Evidence.SOON),
            "unknown/late": ((_LOST,), Evidence.LATE),
            "unknown/never": ((_NEITHER,), Evidence.NEVER),
            "unknown twice": ((_LOST, _LOST), Evidence.NEVER),
            "refused for good": ((_GOOD,), Evidence.SOON),
        }
        for name, (answers, evidence) in cases.items():
            yield Scenario(
                name=f"at once/{name}/{policy}",
                policy=policy,
                answers=tuple(answers),
                evidence=evidence,
                frequency=_AT_ONCE,
                counted_from=timedelta(hours=-13),
            )
        yield Scenario(
            name=f"at once/two workers/{policy}",
            policy=policy,
            answers=(_LOST,),
            evidence=Evidence.NEVER,
            frequency=_AT_ONCE,
            events=("e1",),
            counted_from=timedelta(hours=-13),
            meanwhile=copy,
            hows=(),
        )
    yield Scenario(
        name="at once/daily instead",
        frequency=_AT_ONCE,
        events=("e1",),
        counted_from=timedelta(hours=-13),
        meanwhile=during(choose(Frequency.DAILY)),
        hows=(),
    )


def _streams() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which immediate email is rejected for longer than a digest may be late."""
    acts = (
        at(put("d1", category="like"), hours=-5),
        at(put("d2", "bo", category="like"), hours=-5),
        at(put("e1"), minutes=-20),
    )
    for answers in ((), (_LOST,)):
        yield Scenario(
            name=f"refused at once/{'/'.join(answers) or 'accepts'}",
            answers=answers,
            evidence=Evidence.LATER if answers == (_LOST,) else Evidence.SOON,
            readers=("ann", "bo"),
            frequency=_AT_ONCE,
            events=(),
            acts=acts,
            hows=(How.KILLED_AFTER,),
            refused_at_once=timedelta(hours=1),
            lateness=timedelta(minutes=45),
        )


def _held() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a category held before or during a run and released a day later."""
    like = at(put("e2", category="like"), hours=-5)
    late = at(put("e3", category="like"), hours=12)
    off = at(release("like"), hours=30)
    for policy in Policy:
        for answers in ((), (_NOW,), (_LOST,), (_NEITHER,)):
            label = f"{'/'.join(answers) or 'accepts'}/{policy}"
            shared = Scenario[Life](
                name=f"held/{label}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATER if answers == (_LOST,) else Evidence.SOON,
                events=("e1",),
                days=3,
            )
            yield replace(shared, acts=(like, at(hold_category("like"), hours=-1), late, off))
            yield replace(
                shared,
                name=f"held/two workers/{label}",
                acts=(like, at(hold_category("like"), hours=-1), off),
                meanwhile=copy,
                hows=(),
            )
            yield replace(
                shared,
                name=f"held/in the middle/{label}",
                acts=(like, off),
                meanwhile=during(hold_category("like")),
                hows=(),
            )
    yield Scenario(
        name="held/released in the middle",
        events=("e1",),
        acts=(like, at(hold_category("like"), hours=-1), off),
        meanwhile=during(release("like")),
        hows=(),
        days=3,
    )
    yield Scenario(
        name="held/retracted",
        events=("e1",),
        acts=(like, at(hold_category("like"), hours=-1), off),
        meanwhile=during(retract("e2")),
        hows=(),
        days=3,
    )
    yield Scenario(
        name="held/nothing else",
        acts=(at(hold_category("comment"), hours=-1), at(release("comment"), hours=30)),
        days=3,
    )
    yield Scenario(
        name="held/at once",
        frequency=_AT_ONCE,
        acts=(at(hold_category("comment"), hours=-14), at(release("comment"), hours=-11)),
        counted_from=timedelta(hours=-13),
    )


def _foreign() -> Iterator[Scenario[Life]]:
    """Yield scenarios with rows of a newer version in the same partitions as the other rows."""
    for policy in Policy:
        for answers in ((), (_NOW,), (_LOST,)):
            yield Scenario(
                name=f"foreign rows/{'/'.join(answers) or 'accepts'}/{policy}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATER if answers == (_LOST,) else Evidence.SOON,
                readers=("ann", "bo"),
                acts=(at(roll_back("cy"), hours=-2),),
            )


def _held_up() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the daily cap or a held category delays a weekly digest too long."""
    for frequency in (Frequency.WEEKLY, Frequency.DAILY):
        capped = Scenario(
            name=f"cap/{frequency}",
            readers=("ann", "bo"),
            events=("e1",),
            frequency=frequency,
            acts=(at(cap(1), minutes=-1),),
            counted_from=timedelta(hours=16, minutes=45),
            days=2,
        )
        yield capped
        yield replace(
            capped,
            name=f"cap/{frequency}/two workers",
            meanwhile=copy,
            hows=(),
            events=("e1", "e2"),
        )
    expiring = Scenario(
        name="expiry",
        acts=(at(hold_category("comment"), hours=-1),),
        counted_from=timedelta(days=34, hours=20),
        days=38,
        hows=(How.KILLED_AFTER, How.UNANSWERED),
    )
    yield expiring
    late = at(put("e3", category="like"), days=34)
    yield replace(
        expiring,
        name="expiry/and more to send",
        acts=(*expiring.acts, late),
        meanwhile=copy,
        hows=(),
    )


def _unheard() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which every provider answer is lost and evidence is late or missing."""
    more = (at(put("e3"), hours=20), at(put("e4"), hours=44))
    for policy in Policy:
        for evidence in (Evidence.NEVER, Evidence.NEXT_DAY):
            for answer in (_LOST, _NEITHER):
                yield Scenario(
                    name=f"always {answer}/{evidence}/{policy}",
                    policy=policy,
                    answers=(answer,) * 60,
                    evidence=evidence,
                    acts=more,
                    days=3,
                    hows=(How.KILLED_AFTER, How.UNANSWERED),
                )
        yield Scenario(
            name=f"at once/always lost/{policy}",
            policy=policy,
            answers=(_LOST,) * 60,
            evidence=Evidence.NEVER,
            frequency=_AT_ONCE,
            events=("e1",),
            counted_from=timedelta(hours=-13),
        )


def _late() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a worker that stalls between stamping and writing an event."""
    for slow in (SLOW, frozenset({"generate", "resend"})):
        for policy in Policy:
            yield Scenario(
                name=f"written late/{'ingest' if slow is SLOW else 'generate'} slow/{policy}",
                policy=policy,
                acts=(at(put("e3"), seconds=-20), at(put("e4"), seconds=4)),
                counted_from=timedelta(seconds=-30),
                hows=(How.HELD_UP, How.KILLED_AFTER, How.UNANSWERED),
                skews=skews(slow),
                days=2,
            )
    yield Scenario(
        name="written late/and nothing else",
        events=(),
        acts=(at(put("e3"), seconds=-20),),
        counted_from=timedelta(seconds=-30),
        hows=(How.HELD_UP, How.KILLED_AFTER, How.UNANSWERED),
        days=2,
    )
    yield Scenario(
        name="written late/at once",
        frequency=_AT_ONCE,
        events=("e1",),
        counted_from=timedelta(hours=-13),
        hows=(How.HELD_UP,),
    )


def _moves() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which an event moves while the runs of both schedules are due or fail."""
    held_up = (How.HELD_UP, How.KILLED_AFTER, How.UNANSWERED)
    day, shortly_before = timedelta(days=1), {"hours": 23, "minutes": 59, "seconds": 40}
    weekly = Scenario(
        name="moved late/weekly, daily instead",
        events=(),
        frequency=Frequency.WEEKLY,
        acts=(
            at(put("e1"), hours=1),
            at(put("d1", category="like"), hours=1),
            at(choose(Frequency.DAILY), **shortly_before),
        ),
        counted_from=day - timedelta(seconds=30),
        hows=held_up,
        days=3,
    )
    yield weekly
    yield replace(
        weekly,
        name="moved late/weekly, daily instead/nothing else",
        acts=(weekly.acts[0], weekly.acts[2]),
    )
    yield Scenario(
        name="moved late/daily, at once instead",
        events=(),
        acts=(
            at(put("e1"), hours=1),
            at(choose(_AT_ONCE), hours=2),
            at(put("e2", on="e1"), hours=2, seconds=2),
            at(put("e3", on="e1"), hours=2, seconds=50),
        ),
        counted_from=timedelta(hours=2, seconds=-1),
        hows=held_up,
    )
    yield Scenario(
        name="moved late/at once, daily instead/failed and redriven",
        events=(),
        frequency=_AT_ONCE,
        answers=(_NOW,) * 6,
        acts=(
            at(put("e1"), hours=1),
            at(put("e2", on="e1"), hours=1, seconds=2),
            at(choose(Frequency.DAILY), hours=17, minutes=36, seconds=40),
        ),
        redriven_after=timedelta(hours=6),
        counted_from=timedelta(hours=17, minutes=36),
        hows=held_up,
        days=2,
    )


def _idle() -> Iterator[Scenario[Life]]:
    """Yield scenarios with an action on a schedule that has no events and is idle or going idle."""
    nothing = Scenario(
        name="idle/an event meanwhile",
        acts=(at(retract("e0"), hours=-1),),
        events=("e0",),
        meanwhile=during(put("e1")),
        hows=(),
        days=3,
    )
    yield nothing
    shortly_before = at(put("e2"), hours=23, minutes=59, seconds=45)
    for name, events in {"idle": (), "armed": ("e1",)}.items():
        yield replace(
            nothing,
            name=f"idle/an event at the hour of one that is {name}",
            events=events,
            meanwhile=None,
            acts=(shortly_before,),
            counted_from=timedelta(hours=23, minutes=59),
            hows=EVERY_WAY,
        )


def _threads() -> Iterator[Scenario[Life]]:
    """Yield scenarios with several events of an entity, inside and outside the collapse window."""
    for policy in Policy:
        for answers in ((), (_NOW,), (_LOST,)):
            yield Scenario(
                name=f"thread/{'/'.join(answers) or 'accepts'}/{policy}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATER,
                events=(),
                frequency=_AT_ONCE,
                acts=tuple(
                    at(put(f"e{number}", on="post"), hours=1, seconds=after)
                    for number, after in enumerate((0, 7, 31, 160))
                ),
                counted_from=timedelta(hours=1, seconds=-1),
                hows=(How.HELD_UP, How.KILLED_AFTER),
            )


def _waits() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a run that collects for longer than a message can be delayed.

    The events after the third join this run, are urgent, move, or are retracted. The sweep is out
    of order for a while, or a redrive waits for the run.
    """
    first = tuple(
        at(put(f"e{number}", on="post"), hours=1, minutes=minutes)
        for number, minutes in enumerate((0, 3, 15))
    )
    acts = {
        "joined": (at(put("e3", on="post"), hours=1, minutes=50),),
        "urgent": (at(put("e3", on="post", lapses_after=timedelta(hours=1)), hours=1, minutes=30),),
        "daily instead": (at(choose(Frequency.DAILY), hours=1, minutes=50),),
        "retracted": (
            at(put("e3", on="post", in_vain=True), hours=1, minutes=40),
            at(retract("e3"), hours=1, minutes=50),
        ),
        "late": (at(put("e3", on="post"), hours=2, minutes=12, seconds=10),),
    }
    for name, others in acts.items():
        for policy, answers in ((Policy.RESEND, ()), (Policy.CARRY_OVER, (_YES, _YES, _LOST))):
            yield Scenario(
                name=f"waits/{name}/{policy}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATER,
                events=(),
                frequency=_AT_ONCE,
                acts=(*first, *others),
                counted_from=timedelta(hours=1, minutes=14),
                hows=(How.HELD_UP, How.KILLED_AFTER),
                days=2,
            )
    yield Scenario(
        name="waits/without a sweep",
        events=(),
        frequency=_AT_ONCE,
        acts=first,
        counted_from=timedelta(hours=1, minutes=14),
        hows=(How.KILLED_AFTER,),
        sweeps_from=timedelta(hours=5),
    )


def _templates() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which a template temporarily cannot show an event that may have been
    sent.
    """
    for policy in Policy:
        for frequency, changed in ((Frequency.DAILY, 5), (_AT_ONCE, -50)):
            yield Scenario(
                name=f"no longer shown/{frequency}/{policy}",
                policy=policy,
                answers=(_LOST,) * 60,
                evidence=Evidence.NEVER,
                frequency=frequency,
                events=(),
                acts=(
                    at(put("e1"), hours=-1),
                    at(put("e2", on="e1"), hours=-1),
                    at(change_template("e1"), minutes=changed),
                    at(put("e3", on="e1"), hours=8),
                    at(change_template(), hours=20),
                    at(put_again("e1"), hours=21),
                    at(put("e4", on="e1"), hours=22),
                    at(put_again("e1"), hours=45),
                ),
                counted_from=timedelta(hours=-1, seconds=-1),
                days=3,
                hows=(How.KILLED_AFTER, How.UNANSWERED),
            )


def _lapses() -> Iterator[Scenario[Life]]:
    """Yield scenarios with an event that expires and is extended between unknown attempts.

    An immediate event that lapses soon is urgent, so it has a schedule of its own, which no later
    event shares. An event whose service shortens its life after the email stays with the thread,
    until it is a day old and goes to the daily digest. In others, the event expires while one
    worker is about to claim it and another removes it.
    """
    soon, daily = timedelta(minutes=10), timedelta(hours=23, minutes=10)
    later = tuple(at(put(f"f{day}", on="e1"), hours=24 * day + 8) for day in range(5))
    days, hours = range(1, 5), range(2, 22, 4)
    acts = {
        Frequency.DAILY.value: (
            at(put("e1", lapses_after=daily), hours=-23, minutes=-1),
            *(at(give_time("e1", daily), hours=24 * day + 1) for day in days),
        ),
        "urgent": (
            at(put("e1", lapses_after=soon), minutes=-1),
            *(at(give_time("e1", soon), hours=24 * day + 1) for day in days),
        ),
        _AT_ONCE.value: (
            at(put("e1"), minutes=-1),
            at(give_time("e1", soon), minutes=1),
            *(at(give_time("e1", 2 * LAPSES_SOON), hours=hour) for hour in hours),
            *(at(give_time("e1", soon), hours=hour, minutes=2) for hour in hours),
        ),
    }
    for policy in Policy:
        for name, own in acts.items():
            yield Scenario(
                name=f"lapses/{name}/{policy}",
                policy=policy,
                answers=(_LOST,) * 60,
                evidence=Evidence.NEVER,
                frequency=Frequency.DAILY if name == Frequency.DAILY else _AT_ONCE,
                events=(),
                acts=(*own, *later),
                counted_from=timedelta(minutes=-2),
                days=6,
                hows=(How.KILLED_AFTER,),
            )
    for policy in (Policy.RESEND, Policy.CARRY_OVER):
        yield Scenario(
            name=f"lapses/two workers/{policy}",
            policy=policy,
            answers=(_LOST,) * 60,
            evidence=Evidence.NEVER,
            events=(),
            acts=(
                at(put("e1", lapses_after=timedelta(hours=1, seconds=40)), hours=-1),
                at(put("f1"), minutes=-30),
                at(give_time("e1", timedelta(days=3)), hours=1),
            ),
            days=4,
            meanwhile=copy_that_dies("deferred_events.expire", timedelta(seconds=40)),
            hows=(),
        )


def _seen() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the reader sees one of two things, and news about it arrives later.

    The event is also published again, and amended.
    """
    for policy in (Policy.RESEND, Policy.CARRY_OVER):
        for frequency in (Frequency.DAILY, _AT_ONCE):
            is_immediate = frequency is _AT_ONCE
            # The events of a scenario are stored 12 hours before the first digest is due.
            before = timedelta(hours=-12, seconds=98) if is_immediate else timedelta(minutes=-2)
            shared = Scenario(
                name=f"seen/{frequency}/{policy}",
                policy=policy,
                frequency=frequency,
                acts=(
                    (before, see("e1")),
                    at(put_again("e1"), minutes=5),
                    at(put("e3", on="e1"), hours=3),
                    at(give_time("e1", timedelta(days=9)), hours=4),
                ),
                counted_from=before - timedelta(minutes=1),
                days=2,
            )
            yield shared
            yield replace(
                shared,
                name=f"seen/in the middle/{frequency}/{policy}",
                acts=shared.acts[1:],
                counted_from=timedelta(hours=-13),
                meanwhile=during(see("e1")),
                hows=(),
            )
            yield replace(
                shared,
                name=f"seen/unknown/{frequency}/{policy}",
                answers=(_LOST,) * 20,
                evidence=Evidence.NEVER,
                acts=(at(see("e1"), hours=1), *shared.acts[1:]),
                hows=(How.KILLED_AFTER,),
            )
            yield replace(
                shared,
                name=f"seen/two workers/{frequency}/{policy}",
                meanwhile=copy,
                hows=(),
            )

    soon = timedelta(minutes=50)
    for policy in (Policy.RESEND, Policy.CARRY_OVER):
        yield Scenario(
            name=f"seen/urgent/{policy}",
            policy=policy,
            frequency=_AT_ONCE,
            events=(),
            acts=(
                at(put("e1", lapses_after=soon), hours=-1),
                at(put("e2", on="e1"), hours=-1),
                at(put("e3", on="e1", lapses_after=soon), hours=3),
            ),
            counted_from=timedelta(hours=-1, seconds=-1),
            meanwhile=during(see("e1")),
            hows=(),
        )


def _of_others() -> Iterator[Scenario[Life]]:
    """Yield scenarios with reports on emails of other tables and by other readers."""
    for policy in Policy:
        yield Scenario(
            name=f"restored/{policy}",
            policy=policy,
            acts=(
                at(event_of_unknown_attempt(2), hours=2),
                at(event_of_unknown_attempt(1, attempt=2), hours=3),
                at(put("e3"), hours=20),
                at(event_of_unknown_attempt(2, attempt=7), hours=24, minutes=1),
                at(event_of_unknown_attempt(3), hours=25),
            ),
            days=3,
            hows=(How.KILLED_AFTER, How.UNANSWERED),
        )
    yield Scenario(
        name="one address/complaint",
        readers=("ann", "bo"),
        events=("e1",),
        acts=(at(share_address(), hours=-20),),
        meanwhile=during(complain),
        hows=(),
    )


def _faults() -> Iterator[Scenario[Life]]:
    """Yield scenarios with bounces and complaints, each of which stops its reader.

    A report without a recipient stops no reader, but still proves that the email arrived.
    """
    kinds = {
        "bounce": a_bounce(),
        "complaint": a_complaint(),
        "complaint without a recipient": replace(
            a_complaint(), fault=None, flaw="it names no recipient"
        ),
    }
    for policy in Policy:
        for kind, event in kinds.items():
            yield Scenario(
                name=f"fault/{kind}/{policy}",
                policy=policy,
                answers=(_LOST,),
                evidence=Evidence.NEVER if event.flaw else Evidence.SOON,
                acts=(
                    at(event_about_first(event), minutes=3),
                    at(put("e3", in_vain=True), hours=20),
                ),
                days=2,
            )


def _together() -> Iterator[Scenario[Life]]:
    """Yield scenarios with messages that reach one invocation of ingest at the same time.

    They include events that are routed together and events that must keep their order.
    """
    others = (put("e3", "bo"), put("e4", "bo"))
    between: dict[str, Sequence[Act]] = {
        "nothing": (put("e3"), *others, put("e4"), put("e3")),
        "a profile": (put("e3"), others[0], choose(Frequency.WEEKLY), put("e4"), others[1]),
        "muting": (put("e3", in_vain=True), choose(Frequency.NEVER), others[0]),
        "an erasure": (put("e3", in_vain=True), erase, others[0], put("e4", in_vain=True)),
        "a retraction": (
            *(put("e3", in_vain=True), put("b3", "bo"), retract("e3")),
            *(put("e4"), put("b4", "bo")),
        ),
        "an activity": (put("e3"), others[0], happen("p1", "ann", "bo"), put("e4"), others[1]),
    }
    for what, acts in between.items():
        for frequency in (Frequency.DAILY, _AT_ONCE):
            follows = (follow("p1"), follow("p1", "bo")) if what == "an activity" else ()
            yield Scenario(
                name=f"together/{what}/{frequency}",
                readers=("ann", "bo"),
                events=(),
                frequency=frequency,
                acts=(
                    *(at(each, hours=-3) for each in follows),
                    *(at(each, hours=-1) for each in acts),
                ),
                counted_from=timedelta(hours=-2),
                days=8 if what == "a profile" else 1,
            )


SCENARIOS = (
    *_plain(),
    *_versions(),
    *_content(),
    *_unknown(),
    *_messages(),
    *_supersede(),
    *_stops(),
    *_at_once(),
    *_streams(),
    *_held(),
    *_foreign(),
    *_held_up(),
    *_unheard(),
    *_late(),
    *_moves(),
    *_idle(),
    *_threads(),
    *_waits(),
    *_templates(),
    *_lapses(),
    *_seen(),
    *_of_others(),
    *_faults(),
    *_together(),
)

_ANSWERLESS = (How.KILLED_AFTER, How.UNANSWERED)

ON_MOTO = tuple(
    replace(one, hows=_ANSWERLESS if one.hows else ())
    for one in SCENARIOS
    if one.name
    in {
        "happy/resend/soon",
        "idle/an event at the hour of one that is armed",
        "retry/carry_over",
        "unknown/lost/later/resend",
        "unknown/neither/never/carry_over",
        "two workers/accepts/carry_over",
        "at once/happy/resend",
        "held/accepts/resend",
        "fault/bounce/carry_over",
    }
)
"""The scenarios that also run on the real adapters, and faults between them and AWS.

"Killed before a call" equals "killed after the previous call", so it is left out. Delays and
rejections behave as on the fakes, because only the steps handle them.
"""
