"""Every trace has a test, and every rule is in the code. One test removes a few rules."""

import re

import pytest

from proofs.mutations import copy as module
from proofs.mutations.copy import ROOT, Copy, module_of, without
from proofs.mutations.mutation import Mutation
from proofs.mutations.rules import RULES
from proofs.mutations.traces import PREVENTED, TRACES, table

_NAMED = re.compile(r"^def test_trace_([a-z]{1,2})_", re.MULTILINE)
_QUICK = (
    "time left and deadline are checked right before the call",
    "a worker that finds another's claim does not send",
    "a run is claimed in the transaction that closes its predecessor",
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Return a copy of the project in which rules can be removed."""
    return Copy(tmp_path_factory.mktemp("mutations"))


def test_every_trace_has_a_test_of_the_code_that_is_named_after_it() -> None:
    """Ignore tests of the model, which have the same names but do not test the code."""
    paths = [
        path
        for top in ("tests", "proofs")
        for path in (ROOT / top).rglob("test_*.py")
        if path.parent.name != "model"
    ]
    named = {letter for path in paths for letter in _NAMED.findall(path.read_text())}
    assert named == set(TRACES)


def test_every_trace_has_a_rule_that_is_taken_out_before_the_test_with_its_name() -> None:
    assert {mutation.trace for mutation in PREVENTED} == set(TRACES)
    for mutation in PREVENTED:
        assert f"::test_trace_{mutation.trace}_" in mutation.test


@pytest.mark.parametrize("mutation", [*RULES, *PREVENTED], ids=lambda each: each.rule)
def test_every_rule_is_where_it_is_taken_out(mutation: Mutation) -> None:
    path = module_of(mutation, ROOT)
    compile(without(mutation, path.read_text()), path, "exec")


@pytest.mark.parametrize("mutation", [*RULES, *PREVENTED], ids=lambda each: each.rule)
def test_every_rule_names_a_test_that_there_is(mutation: Mutation) -> None:
    file, _, name = mutation.test.partition("::")
    assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text()


def test_the_documentation_has_the_table() -> None:
    """To print the table, run `python -m proofs.mutations --table`."""
    assert table() in (ROOT / "docs" / "protocol.md").read_text()


def test_without_a_rule_its_test_fails(copy: Copy) -> None:
    some = [mutation for mutation in (*RULES, *PREVENTED) if mutation.rule in _QUICK]
    assert len(some) == len(_QUICK)
    assert not copy.passes([mutation.test for mutation in some])
    for mutation in some:
        assert copy.kills(mutation) == mutation.test.rpartition("::")[2]


def test_a_test_that_hangs_is_recognised_by_its_cpu_time(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine delays every test, so elapsed time does not show that a test hangs."""
    monkeypatch.setattr(module, "_CPU_SECONDS", 5)
    rule = next(each for each in RULES if each.rule == _QUICK[0])
    loop = "while True:\n    pass\n\n\nclass GazetteError(Exception)"
    hangs = Mutation("a loop", "domain/errors.py", "class GazetteError(Exception)", loop, rule.test)
    assert copy.kills(hangs).endswith(", which does not end")
