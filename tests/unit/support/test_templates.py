"""What a push, a rollout and a rollback store, on fakes: answers get lost, others act meanwhile."""

import hashlib
import subprocess
import sys
from dataclasses import dataclass

import pytest
from gazette.domain.errors import Overtaken, Unavailable
from gazette.domain.templates.settings import NO_SETTINGS
from gazette.domain.templates.versions import (
    DEPLOYED,
    NOTHING_PUSHED,
    Change,
    InForce,
    PushedVersion,
    Version,
)

from gazette_support.domain.templates.changes import InvalidRollout
from gazette_support.steps.templates import Bundle, TemplatesContext, push, roll_back, roll_out
from tests.builders import NOW
from tests.conftest import ROOT
from tests.fake_templates import FakeBundles, FakeTemplateVersions


@dataclass
class LosesAnswers(FakeTemplateVersions):
    """Does what it is told, and says that it did not."""

    def add(self, pushed: PushedVersion) -> bool:
        super().add(pushed)
        return False

    def change(self, before: InForce, after: InForce, entry: Change) -> bool:
        super().change(before, after, entry)
        return False


@dataclass
class Denies(FakeBundles):
    """S3 to who may not list the bucket: what is missing is denied."""

    def get(self, version: Version) -> bytes | None:
        if version not in self.stored:
            raise Unavailable("Access denied.")
        return super().get(version)


def a_context(
    versions: FakeTemplateVersions | None = None, bundles: FakeBundles | None = None
) -> TemplatesContext:
    return TemplatesContext(
        versions=versions or FakeTemplateVersions(),
        bundles=bundles or FakeBundles(),
        clock=lambda: NOW,
    )


def bundle(text: str, *, layer: str = "layer:1") -> Bundle:
    content = text.encode()
    checksum = hashlib.sha256(content).hexdigest()
    return Bundle(content=content, checksum=checksum, settings=NO_SETTINGS, layer=layer)


def test_push_with_lost_responses_takes_effect_once() -> None:
    context = a_context(LosesAnswers())
    done = push(bundle("one"), 100, by="ann", context=context)
    assert done.version.version.number == 1
    assert context.versions.in_force().current == done.version.version
    assert len(context.versions.history()) == len(context.versions.changes()) == 1


def test_repeated_push_reuses_the_number_of_an_interrupted_push() -> None:
    bundles = FakeBundles()
    one = bundle("one")
    bundles.put(Version(1, one.checksum), one.content)
    done = push(one, 100, by="ann", context=a_context(bundles=bundles))
    assert done.version.version.number == 1
    assert len(bundles.stored) == 1


def test_push_fails_if_another_push_took_the_number() -> None:
    @dataclass
    class Overtaking(FakeTemplateVersions):
        def add(self, pushed: PushedVersion) -> bool:
            self.known[1] = PushedVersion(Version(1, "b" * 64), 1, NOW, "bo")
            return super().add(pushed)

    context = a_context(Overtaking())
    with pytest.raises(Overtaken, match="Another user has pushed version 1 at the same time"):
        push(bundle("one"), 100, by="ann", context=context)
    assert context.versions.in_force() == NOTHING_PUSHED


def test_version_numbers_increase_past_inactive_versions() -> None:
    context = a_context()
    for number, text in enumerate(("one", "two", "three"), 1):
        assert push(bundle(text), 100, by="ann", context=context).version.version.number == number
    roll_back(DEPLOYED.number, by="ann", context=context)
    assert push(bundle("four"), 100, by="ann", context=context).version.version.number == 4


def test_same_content_with_another_layer_is_a_separate_version() -> None:
    context = a_context()
    push(bundle("one"), 100, by="ann", context=context)
    again = push(bundle("one"), 100, by="ann", context=context)
    assert (again.changes, again.version.version.number) == (False, 1)
    newer = push(bundle("one", layer="layer:2"), 100, by="ann", context=context)
    assert (newer.changes, newer.version.version.number) == (True, 2)


@pytest.mark.parametrize("kind", [FakeBundles, Denies])
def test_lost_bundle_is_uploaded_again(kind: type[FakeBundles]) -> None:
    bundles = kind()
    context = a_context(bundles=bundles)
    push(bundle("one"), 100, by="ann", context=context)
    push(bundle("two"), 100, by="ann", context=context)
    bundles.stored.clear()
    done = push(bundle("one"), 100, by="ann", context=context)
    assert (done.is_new, [*bundles.stored]) == (False, [done.version.version])


def test_rollback_requires_a_complete_bundle() -> None:
    bundles = FakeBundles()
    context = a_context(bundles=bundles)
    push(bundle("one"), 100, by="ann", context=context)
    push(bundle("two"), 100, by="ann", context=context)
    first = context.versions.history()[-1].version
    bundles.stored[first] = b"another"
    with pytest.raises(InvalidRollout, match="version 1 is missing or damaged"):
        roll_back(None, by="ann", context=context)
    assert context.versions.in_force().current.number == 2
    assert roll_back(DEPLOYED.number, by="ann", context=context).current == DEPLOYED


def test_rollback_without_a_number_withdraws_the_candidate_first() -> None:
    context = a_context()
    push(bundle("one"), 100, by="ann", context=context)
    push(bundle("two"), 5, by="ann", context=context)
    assert roll_back(None, by="ann", context=context).current.number == 1
    assert roll_back(None, by="ann", context=context).current == DEPLOYED


def test_rollout_fails_after_a_concurrent_change() -> None:
    @dataclass
    class Overtaking(FakeTemplateVersions):
        def change(self, before: InForce, after: InForce, entry: Change) -> bool:
            return False

    context = a_context()
    push(bundle("one"), 5, by="ann", context=context)
    overtaken = a_context(Overtaking(context.versions.in_force()))
    with pytest.raises(Overtaken, match="Another user has changed the versions in force"):
        roll_out(50, by="ann", context=overtaken)
    assert overtaken.versions.in_force().candidate == context.versions.in_force().candidate


def test_template_commands_need_neither_the_cdk_nor_node() -> None:
    """Whoever pushes templates need not be who deploys."""
    loaded = subprocess.run(
        [sys.executable, "-c", "import gazette_cli.main, sys; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "gazette_cli.templates.command" in loaded
    assert {"aws_cdk", "jsii", "constructs"}.isdisjoint(loaded)


def test_confirmation_of_an_outdated_change_is_rejected() -> None:
    """Between the question and the answer somebody else has pushed: a yes is not about that."""
    context = a_context()
    push(bundle("one"), 100, by="ann", context=context)
    seen = context.versions.in_force()
    push(bundle("two"), 5, by="bo", context=context, seen=seen)
    now = context.versions.in_force()
    with pytest.raises(Overtaken, match="in force, so no change was made"):
        roll_back(None, by="ann", context=context, seen=seen)
    with pytest.raises(Overtaken, match="so no change was made"):
        roll_out(100, by="ann", context=context, seen=seen)
    with pytest.raises(Overtaken, match="so no change was made"):
        push(bundle("three"), 100, by="ann", context=context, seen=seen)
    assert context.versions.in_force() == now
    assert roll_back(None, by="ann", context=context, seen=now).candidate is None
