"""What browsers send with our forms is read, and what is none is refused."""

from urllib.parse import urlencode

import pytest
from gazette.adapters.web import forms
from gazette.adapters.web.forms import LONGEST_FORM, read_form, read_request
from gazette.domain.errors import UnreadableForm
from gazette.domain.subscribers.frequency import MOST_CATEGORIES
from gazette.domain.subscribers.preference_form import follow_field, written_fields
from hypothesis import given
from hypothesis import strategies as st

URLENCODED = "application/x-www-form-urlencoded"
READ = {"act": ["save"], "days": ["1", "5"], "paused_until": ["ß"]}


@pytest.mark.parametrize("kind", [URLENCODED, f"{URLENCODED}; charset=UTF-8", URLENCODED.upper()])
def test_urlencoded_form_is_read(kind: str) -> None:
    body = b"act=save&days=1&days=5&paused_until=%C3%9F"
    assert read_form(body, kind) == READ


def test_longest_preference_form_is_read() -> None:
    sent = {f"category-{number:x<32}": "immediate" for number in range(MOST_CATEGORIES)}
    sent |= {follow_field(f"post#{number}"): "immediate" for number in range(100)}
    sent |= {f"category-unchosen_{number:023}": "" for number in range(100)}
    was = written_fields({name: (value,) for name, value in sent.items()})
    assert len(read_form(urlencode({**sent, "was": was}).encode(), URLENCODED)) == 301


@pytest.mark.parametrize("kind", ["", "text/plain", URLENCODED])
def test_empty_form_body_has_no_fields(kind: str) -> None:
    assert read_form(b"", kind) == {}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"a=" + b"x" * LONGEST_FORM, URLENCODED),
        (b"&".join(b"a=1" for _ in range(1001)), URLENCODED),
        (b'{"act": "save"}', "application/json"),
        (b"act=save", ""),
        (b"act=save", "multipart/form-data; boundary=b"),
    ],
    ids=["long", "fields", "json", "no type", "in parts"],
)
def test_invalid_and_oversized_forms_are_rejected(body: bytes, kind: str) -> None:
    with pytest.raises(UnreadableForm):
        read_form(body, kind)


@pytest.mark.parametrize(
    "hostile",
    [
        b'--b\r\nContent-Disposition: form-data; name="a"' + b";" * 30_000,
        b"--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" * 600,
    ],
    ids=["semicolons", "nesting"],
)
def test_attack_multipart_form_is_rejected(hostile: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts took twelve seconds to read, and a body that nests 3,000 of them ended in a crash."""
    monkeypatch.setattr(forms, "parse_qs", never)
    with pytest.raises(UnreadableForm, match="must be urlencoded"):
        read_form(hostile, "multipart/form-data; boundary=b")


@pytest.mark.parametrize("is_base64", [True, False])
def test_attack_oversized_body_is_not_decoded(
    is_base64: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "b64decode", never)
    with pytest.raises(UnreadableForm, match="at most 32768 bytes"):
        read_request("YT0x" * 100_000, URLENCODED, is_base64=is_base64)


def never(*_: object, **__: object) -> None:
    raise AssertionError("This must not be read.")


@given(st.binary(max_size=200), st.sampled_from([URLENCODED, f"{URLENCODED}; charset=\udcff"]))
def test_any_submitted_form_is_read_or_rejected(body: bytes, kind: str) -> None:
    fields = read_form(body, kind)
    for name, values in fields.items():
        "".join([name, *values]).encode()
