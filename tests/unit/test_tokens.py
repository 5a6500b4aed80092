"""Signed links: what was signed comes back, and nothing else does."""

import base64
import re
import string

import pytest
from gazette.domain.errors import InvalidToken
from gazette.domain.tokens import sign, verify
from hypothesis import assume, given, settings
from hypothesis import strategies as st

KEY = b"a key of this installation"
ALPHABET = string.ascii_letters + string.digits + "-_."

user_ids = st.text([chr(code) for code in range(0x21, 0x7F)], min_size=1, max_size=64)


def token_for(user_id: str) -> str:
    """A token to unsubscribe with."""
    return sign(user_id, purpose="unsubscribe", key=KEY)


def reader_of(token: str) -> str:
    """Who may unsubscribe with `token`."""
    return verify(token, purpose="unsubscribe", key=KEY)


@given(user_ids)
@settings(max_examples=150, deadline=None)
def test_what_was_signed_comes_back(user_id: str) -> None:
    token = token_for(user_id)
    assert reader_of(token) == user_id
    assert re.fullmatch(r"[A-Za-z0-9_.-]+", token)
    assert len(token) <= 120


def test_a_token_is_pinned() -> None:
    """Links in emails that were sent years ago still work."""
    assert token_for("ann") == "YW5u.w-6zJtlrUcgSZlp4UHcqlQ"


@given(user_ids, st.data())
@settings(max_examples=300, deadline=None)
def test_a_token_with_one_other_character_is_refused(user_id: str, data: st.DataObject) -> None:
    token = token_for(user_id)
    place = data.draw(st.integers(0, len(token) - 1))
    altered = token[:place] + data.draw(st.sampled_from(ALPHABET)) + token[place + 1 :]
    assume(altered != token)
    with pytest.raises(InvalidToken):
        reader_of(altered)


@given(user_ids, st.data())
@settings(max_examples=100, deadline=None)
def test_a_token_that_was_cut_off_is_refused(user_id: str, data: st.DataObject) -> None:
    token = token_for(user_id)
    with pytest.raises(InvalidToken):
        reader_of(token[: data.draw(st.integers(0, len(token) - 1))])


@pytest.mark.parametrize("tail", ["=", "==", ".", "\n"])
def test_a_token_with_something_behind_it_is_refused(tail: str) -> None:
    with pytest.raises(InvalidToken):
        reader_of(token_for("ann") + tail)


def test_the_user_id_of_one_token_does_not_go_with_the_signature_of_another() -> None:
    (ann, _), (bob, signature) = token_for("ann").split("."), token_for("bob").split(".")
    with pytest.raises(InvalidToken):
        reader_of(f"{ann}.{signature}")
    assert reader_of(f"{bob}.{signature}") == "bob"


def test_a_token_for_another_purpose_is_refused() -> None:
    with pytest.raises(InvalidToken):
        reader_of(sign("ann", purpose="preferences", key=KEY))


def test_a_token_of_another_installation_is_refused() -> None:
    with pytest.raises(InvalidToken):
        reader_of(sign("ann", purpose="unsubscribe", key=KEY + b"!"))


def test_an_empty_signature_is_refused() -> None:
    payload = token_for("ann").partition(".")[0]
    for token in (payload, f"{payload}.", f".{payload}", ".", ""):
        with pytest.raises(InvalidToken):
            reader_of(token)


@given(
    st.one_of(
        st.text(),
        st.text(ALPHABET + "="),
        st.text(st.characters(categories=["Cs", "Lu"])),
        st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode() + ".AAAA"),
    )
)
@settings(max_examples=300, deadline=None)
def test_garbage_is_refused_and_breaks_nothing(text: str) -> None:
    with pytest.raises(InvalidToken, match=r"^This link .+\.$"):
        reader_of(text)
