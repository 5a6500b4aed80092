"""A few histories. `make state` runs two thousand."""

import pytest
from gazette.domain.delivery.signals import Policy
from hypothesis import settings

from proofs.prove.without import taken_out
from proofs.state.machine import Machine

TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def _an_event_when_fan_out_has(*, looked: bool) -> Machine:
    """Store an event before or after fan-out, which found none, makes the schedule idle."""
    machine = Machine()
    machine.begin(policy=Policy.RESEND, plan=[], then="")
    machine._work_off()
    machine.a_digest_is_due(something=False, up_to="schedules.put" if looked else "", then="later")
    machine.something_happens()
    if looked:
        machine.a_worker_goes_on(which=0, how="")
    return machine


@pytest.mark.parametrize(("rule", "looked"), [("second-look", True), ("arm-idle", False)])
def test_without_a_rule_an_event_behind_an_idle_schedule_is_found(
    rule: str, *, looked: bool
) -> None:
    _an_event_when_fan_out_has(looked=looked).nothing_waits_in_an_idle_schedule()
    with taken_out(rule):
        machine = _an_event_when_fan_out_has(looked=looked)
    with pytest.raises(AssertionError, match="rule 23: e2 of ann waits"):
        machine.nothing_waits_in_an_idle_schedule()
