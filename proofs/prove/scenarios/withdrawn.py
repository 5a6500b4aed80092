"""Scenarios in which an operator withdraws an actor or an entity."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.signals import Policy
from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.acts import (
    at,
    copy,
    copy_that_dies,
    during,
    follow,
    happen,
    put,
    put_again,
    withdraw,
)
from proofs.prove.life import Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import Scenario
from proofs.prove.strikes import How

_LOST = Answer.LOST
_FREQUENCIES = (Frequency.DAILY, Frequency.IMMEDIATE)
_POLICIES = (Policy.RESEND, Policy.CARRY_OVER)
_AN_HOUR = timedelta(hours=1)


def _first(frequency: Frequency) -> timedelta:
    """Return when the first email is due, except for a few seconds.

    The events of a scenario are stored 12 hours before the first digest is due.
    """
    is_immediate = frequency is Frequency.IMMEDIATE
    return timedelta(hours=-12, seconds=120) if is_immediate else timedelta(0)


def _before_the_email() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a withdrawal right before the email, and later events.

    A withdrawn event is published again. One event is older than the withdrawal of its entity, and
    arrives afterwards. Another event reaches a follower of the withdrawn entity.
    """
    for policy in _POLICIES:
        for frequency in _FREQUENCIES:
            first = _first(frequency)
            of_actor = Scenario[Life](
                name=f"withdrawn/actor/{frequency}/{policy}",
                policy=policy,
                frequency=frequency,
                acts=(
                    (first - timedelta(seconds=30), withdraw(actor="e1")),
                    (first + timedelta(minutes=5), put_again("e1")),
                    at(put("e3", on="e1"), hours=3),
                ),
                counted_from=first - timedelta(minutes=1),
                days=2,
            )
            yield of_actor
            yield replace(
                of_actor,
                name=f"withdrawn/entity/{frequency}/{policy}",
                acts=(
                    (first - timedelta(minutes=2), follow("e1")),
                    (first - timedelta(seconds=50), happen("e4", "ann", parent="e1")),
                    (first - timedelta(seconds=30), withdraw(on="e1")),
                    (first + _AN_HOUR, put("e5", on="e1", late=2 * _AN_HOUR)),
                    at(put("e3", on="e1"), hours=3),
                ),
            )


def _in_the_middle() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a withdrawal between two calls of a worker."""
    for policy in _POLICIES:
        for frequency in _FREQUENCIES:
            first = _first(frequency)
            for name, act in (("actor", withdraw(actor="e1")), ("entity", withdraw(on="e1"))):
                yield Scenario(
                    name=f"withdrawn/in the middle/{name}/{frequency}/{policy}",
                    policy=policy,
                    frequency=frequency,
                    acts=((first + _AN_HOUR, put_again("e1")), at(put("e3", on="e1"), hours=3)),
                    counted_from=first - timedelta(minutes=1),
                    days=2,
                    meanwhile=during(act),
                    hows=(),
                )


def _may_have_been_sent() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a withdrawal between the attempts of a run.

    The first attempt was refused, or its outcome is unknown.
    """
    for frequency in _FREQUENCIES:
        first = _first(frequency)
        for policy in Policy:
            for name, answers, evidence in (
                ("lost", (_LOST,) * 20, Evidence.NEVER),
                ("lost/later", (_LOST,) * 20, Evidence.LATER),
                ("neither", (Answer.NEITHER,) * 2, Evidence.NEVER),
            ):
                yield Scenario(
                    name=f"withdrawn/{name}/{frequency}/{policy}",
                    policy=policy,
                    answers=answers,
                    evidence=evidence,
                    frequency=frequency,
                    acts=(
                        (first + timedelta(minutes=5), withdraw(actor="e1")),
                        (first + 2 * _AN_HOUR, put_again("e1")),
                        at(put("e3", on="e1"), hours=3),
                    ),
                    counted_from=first - timedelta(minutes=1),
                    days=3,
                    hows=(How.KILLED_AFTER, How.UNANSWERED),
                )
        yield Scenario(
            name=f"withdrawn/retry/{frequency}",
            answers=(Answer.REFUSES_NOW,) * 2,
            frequency=frequency,
            acts=(
                (first + timedelta(seconds=25), withdraw(actor="e1")),
                at(put("e3", on="e1"), hours=3),
            ),
            counted_from=first - timedelta(minutes=1),
            days=2,
        )


def _several_workers() -> Iterator[Scenario[Life]]:
    """Yield scenarios with two workers for one run. One of them may have an outdated list.

    The worker with the current list may die after it has left out the withdrawn event.
    """
    dying = copy_that_dies("deferred_events.withdraw", timedelta(0))
    for frequency in _FREQUENCIES:
        first = _first(frequency)
        for name, outdated, meanwhile in (
            ("two workers", (), copy),
            ("outdated worker", ("generate",), copy),
            ("outdated worker/dying copy", ("generate",), dying),
            ("outdated copy", ("generate (copy)",), copy),
        ):
            yield Scenario(
                name=f"withdrawn/{name}/{frequency}",
                frequency=frequency,
                acts=(
                    (first - timedelta(seconds=20), withdraw(actor="e1")),
                    (first + _AN_HOUR, put_again("e1")),
                    at(put("e3", on="e1"), hours=3),
                ),
                copies=2,
                counted_from=first - timedelta(minutes=1),
                days=2,
                meanwhile=meanwhile,
                outdated=frozenset(outdated),
                hows=(),
            )


SCENARIOS = (
    *_before_the_email(),
    *_in_the_middle(),
    *_may_have_been_sent(),
    *_several_workers(),
)
