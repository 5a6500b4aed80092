"""A small sample of `make prove`."""

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from gazette.domain.delivery.run import Reason, Status

from proofs.prove.life import Life
from proofs.prove.on_moto import moto_ground
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import Scenario
from proofs.prove.scenarios import ON_MOTO, SCENARIOS
from proofs.prove.search import Effort, is_found, search, world
from proofs.prove.strikes import Calls, How, Killed, Worker, unavailable
from proofs.prove.verdict import judge
from proofs.prove.without import taken_out
from tests.builders import NOW, SettableClock

_SEED = Effort(every=200, second=0, reach=1)
_ON_MOTO = {"happy/resend/soon", "unknown/neither/never/carry_over"}


def test_nothing_is_lost_and_nothing_sent_twice_whoever_is_killed_wherever() -> None:
    """A third of the scenarios, always the same."""
    chosen = Random("seed").sample(SCENARIOS, len(SCENARIOS) // 3)
    tallies = [search(scenario, _SEED) for scenario in chosen]
    assert not [told for tally in tallies for told in tally.stories]
    assert sum(tally.worlds for tally in tallies) > 170


def test_nor_between_the_real_adapters_and_aws() -> None:
    with moto_ground() as ground:
        tallies = [
            search(replace(scenario, hows=(How.UNANSWERED,)), Effort(every=40, second=0), ground)
            for scenario in ON_MOTO
            if scenario.name in _ON_MOTO
        ]
    assert not [told for tally in tallies for told in tally.stories]
    assert sum(tally.worlds for tally in tallies) > 2


def test_an_email_that_nobody_may_send_is_found() -> None:
    """The verdict depends on the accepted emails, whatever the rows contain."""
    scenario = Scenario[Life](name="happy")
    life, verdict = world(scenario, ())
    assert not verdict.violations
    life.provider.taken *= 2
    assert [found[:2] for found in judge(life).violations] == ["G2", "G2"]
    life.provider.taken.clear()
    assert [found[:2] for found in judge(life).violations] == ["G1", "G1"]


def test_a_run_that_ended_because_nothing_waited_though_something_did_is_found() -> None:
    life, _ = world(Scenario(name="happy"), ())
    run = life.runs()[0]
    ended = replace(run, status=Status.SKIPPED, reason=Reason.NOTHING_WAITED, window=None)
    life.onlooker.runs.rows[run.key] = ended
    found = judge(life).violations
    assert f"G3: e1 waited, and {run.key} was skipped as empty" in found
    assert f"G3: e2 waited, and {run.key} was skipped as empty" in found


@pytest.mark.parametrize("how", [How.HELD_UP, How.OVERTAKEN])
def test_a_worker_whose_time_ends_while_it_stands_still_writes_nothing(how: How) -> None:
    """While another worker is frozen, more time passes than the delay of this worker."""
    clock = SettableClock(NOW)
    worker = Worker("ingest 1", ends_at=NOW + timedelta(seconds=90), work=lambda: None)
    written: list[str] = []

    def freeze(_: object) -> None:
        clock.now += timedelta(minutes=45)

    calls = Calls(clock, {0: how}, unavailable, freeze, freeze, frozenset(), worker)
    with pytest.raises(Killed):
        calls.around("events.write", lambda: written.append("e1"))
    assert not written


@pytest.mark.parametrize("how", [How.KILLED_AFTER, How.UNANSWERED])
def test_a_worker_that_is_killed_after_the_provider_took_the_email_leaves_an_unknown_outcome(
    how: How,
) -> None:
    scenario = Scenario[Life](name="unknown", answers=(Answer.ACCEPTS,), evidence=Evidence.LATE)
    life, _ = world(scenario, ())
    sends = next(number for _, _, number, name, _ in life.calls.story if name == "mailer.send")
    life, verdict = world(scenario, ((sends, how),))
    assert not verdict.violations
    assert [run.reason for run in life.runs()][:1] == ["evidence"]
    assert len(life.provider.taken) == 1


@pytest.mark.parametrize(
    ("rule", "scenario", "every", "finds"),
    [
        ("settle-lag", "stop/another event", 7, "LOST"),
        ("two-unknown", "always lost/never/carry_over", 7, "emails"),
        ("two-breakers", "refused at once/accepts", 7, "too late"),
        ("over-given-up", "lapses/daily/resend", 200, "e1 of ann is in 5 emails"),
        ("over-given-up", "lapses/immediate/carry_over", 200, "e1 of ann is in 6 emails"),
        ("seen-urgent", "seen/urgent/resend", 7, "was sent although e1 was seen"),
        ("withdrawn-left-out", "withdrawn/actor/daily/resend", 200, "although e1 was withdrawn"),
        ("withdrawn-left-out", "withdrawn/entity/immediate/resend", 200, "sent with e5 although"),
        ("withdrawn-checked", "withdrawn/in the middle/actor/daily/resend", 1, "with e1 although"),
        ("withdrawn-guarded", "withdrawn/outdated worker/dying copy/daily", 1, "stored as unsent"),
        ("withdrawn-given-up", "withdrawn/lost/daily/resend", 200, "e1 was sent, and is stored"),
        ("pairs-one-row", "pairs/comment, mention/together/immediate, daily", 200, "c1 and m1"),
        ("pairs-strongest", "pairs/mention, comment/together/daily, daily", 200, "not show m1"),
        (
            "pairs-retracted",
            "pairs/retract/mention/daily, immediate",
            200,
            "although m1 was retracted",
        ),
        ("pairs-others-stay", "pairs/retract/mention/immediate, daily", 200, "['c1'] of ann in no"),
        ("pairs-armed", "pairs/unfollow/daily, immediate", 200, "the daily digest is idle"),
        ("pairs-divided", "pairs/withdrawn/m1/immediate, daily", 200, "['c1'] of ann in no"),
        (
            "pairs-guarded",
            "pairs/withdrawn/two workers/daily, immediate/outdated",
            1,
            "stored as unsent",
        ),
    ],
)
def test_without_a_rule_the_worlds_that_break_are_found(
    rule: str, scenario: str, every: int, finds: str
) -> None:
    chosen = next(one for one in SCENARIOS if one.name == scenario)
    effort = Effort(every=every, second=0, reach=0)
    with taken_out(rule):
        assert is_found(finds, chosen, effort)


@pytest.mark.parametrize("policy", ["resend", "carry_over"])
def test_without_the_guard_of_what_is_over_an_event_is_in_three_emails(policy: str) -> None:
    chosen = next(one for one in SCENARIOS if one.name == f"lapses/two workers/{policy}")
    with taken_out("over-guarded"):
        assert is_found("e1 of ann is in 3 emails", chosen, Effort(second=0, reach=0))


@pytest.mark.parametrize(
    ("rule", "scenario", "every", "finds"),
    [
        ("second-look", "an event meanwhile", 1, "the daily digest is idle"),
        (
            "arm-afterwards",
            "an event at the hour of one that is armed",
            1,
            "the daily digest is idle",
        ),
        ("arm-idle", "an event at the hour of one that is idle", 20, "the daily digest is idle"),
        ("go-idle", "an event meanwhile", 20, "was visited in vain"),
        ("arm-for-the-next", "an event at the hour of one that is idle", 20, "is the next run"),
    ],
)
def test_without_a_rule_of_idle_schedules_what_it_prevents_is_found(
    rule: str, scenario: str, every: int, finds: str
) -> None:
    chosen = next(one for one in SCENARIOS if one.name == f"idle/{scenario}")
    held_up = replace(chosen, hows=chosen.hows and (How.HELD_UP,))
    with taken_out(rule):
        assert is_found(finds, held_up, Effort(every=every, second=0, reach=0))
