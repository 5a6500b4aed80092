"""What browsers send with a form is read in both encodings, and what is none is refused."""

import pytest
from gazette.adapters.web.forms import LONGEST_FORM, read_form
from gazette.domain.errors import UnreadableForm
from hypothesis import example, given
from hypothesis import strategies as st

URLENCODED = "application/x-www-form-urlencoded"
PARTS = (
    b'--b\r\nContent-Disposition: form-data; name="act"\r\n\r\nsave\r\n'
    b'--b\r\nContent-Disposition: form-data; name="days"\r\n\r\n1\r\n'
    b'--b\r\nContent-Disposition: form-data; name="days"\r\n\r\n5\r\n'
    b'--b\r\nContent-Disposition: form-data; name="paused_until"\r\n\r\n\xc3\x9f\r\n'
    b"--b--\r\n"
)
READ = {"act": ["save"], "days": ["1", "5"], "paused_until": ["ß"]}


@pytest.mark.parametrize("kind", [URLENCODED, f"{URLENCODED}; charset=UTF-8", URLENCODED.upper()])
def test_an_urlencoded_form_is_read(kind: str) -> None:
    body = b"act=save&days=1&days=5&paused_until=%C3%9F"
    assert read_form(body, kind) == READ


@pytest.mark.parametrize(
    "kind", ["multipart/form-data; boundary=b", 'Multipart/Form-Data;\n boundary="b"']
)
def test_a_form_in_parts_is_read(kind: str) -> None:
    assert read_form(PARTS, kind) == READ


@pytest.mark.parametrize("kind", ["", "text/plain", URLENCODED])
def test_a_button_alone_sends_nothing(kind: str) -> None:
    assert read_form(b"", kind) == {}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"a=" + b"x" * LONGEST_FORM, URLENCODED),
        (b"&".join(b"a=1" for _ in range(1001)), URLENCODED),
        (b'{"act": "save"}', "application/json"),
        (b"act=save", ""),
        (PARTS, "multipart/form-data"),
        (b"act=save", "multipart/form-data; boundary=b"),
        (PARTS.replace(b"--b--", b"") * 300 + b"--b--", "multipart/form-data; boundary=b"),
    ],
    ids=["long", "fields", "json", "no type", "no boundary", "no parts", "many parts"],
)
def test_what_is_no_form_or_too_much_of_one_is_refused(body: bytes, kind: str) -> None:
    with pytest.raises(UnreadableForm):
        read_form(body, kind)


def test_a_part_without_a_name_is_passed_over() -> None:
    body = PARTS.replace(b'; name="act"', b"")
    assert "act" not in read_form(body, "multipart/form-data; boundary=b")


kinds = st.sampled_from(
    [
        *(URLENCODED, f"{URLENCODED}; charset=\udcff", "multipart/form-data"),
        *("multipart/form-data; boundary=b", "multipart/form-data; boundary*0=b", "\x00", ""),
        *('multipart/form-data; boundary="b', "multipart/form-data; charset=x; boundary=b"),
    ]
)
pieces = st.lists(
    st.one_of(
        st.binary(max_size=20),
        st.sampled_from(
            [
                *(b"--b\r\n", b"--b--", b"\r\n\r\n", b"\n", b"=", b"&", b"%", b"%FF", b"name*0="),
                *(b'Content-Disposition: form-data; name="a"', b"Content-Disposition: ;;;="),
                *(b"Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n", b"\xff"),
                *(b"Content-Transfer-Encoding: base64\r\n", b"Content-Transfer-Encoding: x-uu\r\n"),
                *(
                    b"name*=utf-8''a",
                    b"name*=nonsense'x'%ff",
                    b"Content-Type: text/plain; charset=x",
                ),
            ]
        ),
    ),
    max_size=14,
)


@given(pieces.map(b"".join), kinds | st.text(max_size=30))
@example(PARTS, "multipart/form-data; boundary=b; boundary*1=c")
def test_whatever_is_sent_is_read_or_refused(body: bytes, kind: str) -> None:
    try:
        fields = read_form(body, kind)
    except UnreadableForm:
        return
    for name, values in fields.items():
        "".join([name, *values]).encode()
