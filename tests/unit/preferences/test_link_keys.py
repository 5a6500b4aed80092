"""The keys of the links: what a secret may hold, how they are kept, and who signs with which."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import pytest
from gazette.adapters.cached import READ_INTERVAL, Cached
from gazette.adapters.web.links import LinkReader, SignedLinks
from gazette.domain.errors import InvalidKeys, InvalidToken, Unavailable
from gazette.domain.links import LinkKeys, Purpose, read_keys, sign
from gazette.domain.model import RunKey
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import KEY, SettableClock, a_link
from tests.fakes import FakeKeyStore, FakeSecret

OLD = LinkKeys({"k1": b"1" * 32})
NEW = OLD.with_next("2" * 32)
SECOND = timedelta(seconds=1)


@dataclass
class Installation:
    """A process that has read `secret`."""

    secret: FakeSecret
    cached: Cached[LinkKeys]
    clock: SettableClock

    def wait(self, time: timedelta) -> None:
        self.clock.now += time

    @property
    def reader(self) -> LinkReader:
        return LinkReader(keys=self.cached.get, clock=self.clock)


@pytest.fixture
def process(clock: SettableClock) -> Installation:
    secret = FakeSecret(OLD)
    return Installation(secret, Cached(FakeKeyStore(secret).read, clock=clock), clock)


def leave(keys: LinkKeys) -> str:
    """A token to unsubscribe with, as a worker that knows `keys` makes it."""
    return sign(a_link().to_text(), purpose=Purpose.UNSUBSCRIBE, keys=keys)


def test_link_keys_round_trip() -> None:
    assert read_keys(NEW.to_json()) == NEW
    assert read_keys('{"k1": "' + "x" * 32 + '"}').newest == "k1"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("x" * 64, "it is not JSON"),
        ("", "it is not JSON"),
        ("[]", "it is not a JSON object with at least one key"),
        ("{}", "it is not a JSON object with at least one key"),
        ('"k1"', "it is not a JSON object with at least one key"),
        (json.dumps({"one": "x" * 32}), "one of its key ids is not k1, k2, … up to k999999"),
        (json.dumps({"k0": "x" * 32}), "one of its key ids is not k1, k2, … up to k999999"),
        (json.dumps({"k1": "x" * 31}), "k1 is not a string of at least 32 characters"),
        (json.dumps({"k1": "x" * 32, "k2": None}), "k2 is not a string of at least 32 characters"),
        (
            '{"k1": "' + r"\ud800" * 32 + '"}',
            "a key contains a lone surrogate, which is not valid text",
        ),
    ],
)
def test_link_key_errors_do_not_reveal_the_secret(content: str, words: str) -> None:
    with pytest.raises(InvalidKeys) as refused:
        read_keys(content)
    assert str(refused.value) == words
    assert "xxx" not in str(refused.value)


def test_traceback_contains_no_link_keys() -> None:
    assert "111" not in repr(NEW)


@given(st.text())
@settings(max_examples=100, deadline=None)
def test_any_secret_content_is_read_or_rejected(content: str) -> None:
    with suppress(InvalidKeys):
        assert read_keys(content).ids


def test_key_number_beyond_maximum_is_rejected() -> None:
    with pytest.raises(InvalidKeys, match="there is no number after k999999"):
        LinkKeys({"k999999": b"1" * 32}).with_next("2" * 32)


def test_newest_key_is_never_retired() -> None:
    with pytest.raises(ValueError, match="k2"):
        NEW.without("k2")
    assert NEW.without("k1").ids == ("k2",)


def test_running_process_loads_new_key_within_a_minute(process: Installation) -> None:
    process.wait(READ_INTERVAL)
    process.secret.keys = NEW
    assert process.reader.read(leave(NEW), Purpose.UNSUBSCRIBE) == a_link()
    assert process.reader.read(leave(OLD), Purpose.UNSUBSCRIBE) == a_link()


def test_attack_forged_links_read_secret_at_most_once_per_minute(process: Installation) -> None:
    for number in range(2, 122):
        process.wait(SECOND)
        with pytest.raises(InvalidToken):
            process.reader.read(f"k{number}.YW5u.AAAAAAAAAAAAAAAAAAAAAA", Purpose.UNSUBSCRIBE)
    assert process.secret.reads == 1 + 2


def test_token_with_unknown_key_is_rejected(process: Installation) -> None:
    for token in ("", ".", "x.YW5u.AAAA", "k01.YW5u.AAAA", leave(OLD) + "A"):
        with pytest.raises(InvalidToken):
            process.reader.read(token, Purpose.UNSUBSCRIBE)


def test_new_key_signs_links_within_a_minute(process: Installation) -> None:
    process.secret.keys = NEW
    process.wait(READ_INTERVAL - SECOND)
    assert process.cached.get() == OLD
    process.wait(SECOND)
    assert process.cached.get() == NEW
    assert process.secret.reads == 2


def test_attack_retired_leaked_key_is_rejected_within_a_minute(
    process: Installation,
) -> None:
    process.secret.keys = NEW.without("k1")
    process.wait(READ_INTERVAL)
    with pytest.raises(InvalidToken):
        process.reader.read(leave(OLD), Purpose.UNSUBSCRIBE)


def test_cached_keys_are_used_if_secrets_manager_fails(
    process: Installation,
) -> None:
    """And it is asked again each minute, not for each email."""
    process.secret.keys = NEW
    process.secret.refusal = Unavailable("no answer")
    process.wait(READ_INTERVAL)
    for _ in range(59):
        assert process.cached.get() == OLD
        process.wait(SECOND)
    assert process.secret.reads == 2
    process.secret.refusal = None
    process.wait(SECOND)
    assert process.cached.get() == NEW


def test_corrupted_secret_is_logged_once_a_minute(process: Installation) -> None:
    """Loud enough for an alarm, and yet the links of most emails are made."""
    process.secret.refusal = InvalidKeys("it is not JSON")
    complaints = 0
    for _ in range(120):
        process.wait(SECOND)
        try:
            assert process.cached.get() == OLD
        except InvalidKeys:
            complaints += 1
    assert complaints == 2


def test_first_read_of_keys_must_succeed(clock: SettableClock) -> None:
    store = FakeKeyStore(FakeSecret(OLD, refusal=Unavailable("no answer")))
    with pytest.raises(Unavailable):
        Cached(store.read, clock=clock)


def link_of(maker: Callable[[], LinkKeys], name: str, key: RunKey = KEY) -> str:
    links = SignedLinks(base_url="https://mail.example.com/", keys=maker).links(a_link(key))
    return str(getattr(links, name))


@pytest.mark.parametrize("name", ["unsubscribe", "preferences", "email", "updates"])
def test_each_link_starts_with_base_url(process: Installation, name: str) -> None:
    link = link_of(process.cached.get, name)
    assert link.startswith(f"https://mail.example.com/{name}/k1.")
    assert link.count("/") == 4


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("unsubscribe", Purpose.UNSUBSCRIBE),
        ("preferences", Purpose.PREFERENCES),
        ("email", Purpose.RUN),
        ("updates", Purpose.UPDATES),
    ],
)
def test_each_link_token_is_valid_for_only_one_purpose(
    process: Installation, name: str, purpose: Purpose
) -> None:
    odd = RunKey("a/b c-1", "now5f1c", 17)
    token = link_of(process.cached.get, name, odd).rpartition("/")[2]
    assert process.reader.read(token, purpose) == a_link(odd)
    for other in set(Purpose) - {purpose}:
        with pytest.raises(InvalidToken):
            process.reader.read(token, other)


def test_signed_token_with_invalid_run_is_rejected(process: Installation) -> None:
    with pytest.raises(InvalidToken):
        process.reader.read(sign("ann", purpose=Purpose.RUN, keys=OLD), Purpose.RUN)
