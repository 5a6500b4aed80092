"""A few histories; `make state` makes two thousand of them."""

from hypothesis import settings

from proofs.state.machine import Machine

TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
