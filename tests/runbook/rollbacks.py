"""Deployments of the stage to go back to, as `gazette rollback` finds them.

The stage is deployed once. Another deployment is a version of each function with its name, as the
stack publishes one; that a second `cdk deploy` makes one is looked at in tests/lifetime.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gazette.settings.environment import LIVE

from gazette_cdk.topology import STEPS
from tests.runbook.state import State

_NAMED = "b7d05e8c1f22"
_OTHER = "0c5f2d7e9a41"


@contextmanager
def the_one_before_works(state: State) -> Iterator[None]:
    """All functions work as the deployment before the newest, and email goes out."""
    before = _deploy(state, _OTHER)
    newest = _deploy(state, _NAMED)
    yield
    assert _live(state) == before != newest
    _sends(state)


@contextmanager
def the_named_one_works(state: State) -> Iterator[None]:
    """All functions work as the deployment of that name, though another is newer."""
    named = _deploy(state, _NAMED)
    newest = _deploy(state, _OTHER)
    yield
    assert _live(state) == named != newest
    _sends(state)


def _deploy(state: State, name: str) -> Mapping[str, str]:
    """Let all functions work as a new deployment. Returns the version of each."""
    for function in _functions(state):
        state.deployed.service.change(function, Description=f"gazette 0.2.0, deployment {name}")
    return _live(state)


def _live(state: State) -> Mapping[str, str]:
    """The version to which the alias of each function points."""
    client = state.deployed.service.functions
    return {
        function: client.get_alias(FunctionName=function, Name=LIVE)["FunctionVersion"]
        for function in _functions(state)
    }


def _functions(state: State) -> list[str]:
    return [f"{state.deployed.service.prefix}-{step.name}" for step in STEPS]


def _sends(state: State) -> None:
    state.digest_is_due()
    with state.emails(1):
        state.try_to_send()
