"""The format of bundles: what goes in comes out, and nothing else gets in."""

import base64
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.templates import bundle
from gazette.adapters.templates.bundle import BundleError, checksum_of, pack, unpack
from hypothesis import given
from hypothesis import strategies as st

SUBJECT = "digest/subject.txt"


def folder(at: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_bytes(content)
    return at


def packed(document: object) -> bytes:
    return gzip.compress(json.dumps(document).encode(), mtime=0)


def with_file(name: str, written: object = "x") -> bytes:
    return packed({"format": 1, "files": {name: written}})


FILES = {
    SUBJECT: "Grüße 🎉".encode(),
    "brand.json": b"{}",
    "settings.json": b"{}",
    "email.css": b"p {}",
    "categories/like/data.schema.json": b"{}",
    "locales/pt-BR/LC_MESSAGES/messages.mo": bytes(range(256)),
    "variations/2/digest/body.html": b"<p>\r\n",
}


def test_packed_bundle_is_unpacked_unchanged(tmp_path: Path) -> None:
    assert unpack(pack(folder(tmp_path, FILES))) == FILES


def test_packing_the_same_files_is_reproducible(tmp_path: Path) -> None:
    one = folder(tmp_path / "one", FILES)
    other = folder(tmp_path / "other", dict(reversed(FILES.items())))
    for file in other.rglob("*"):
        os.utime(file, (0, 0))
    assert pack(one) == pack(other)
    assert checksum_of(pack(one)) == checksum_of(pack(other))
    assert pack(one)[4:10] == b"\0\0\0\0\x02\xff"  # no time, greatest compression, no system


def test_files_other_than_templates_are_not_packed(tmp_path: Path) -> None:
    more = {"__init__.py": b"", "README.md": b"notes", "parts/notes.rst": b"notes"}
    assert unpack(pack(folder(tmp_path, FILES | more))) == FILES


BAD_PATHS = [
    "/etc/passwd.txt",
    "../digest/subject.txt",
    "digest/../../x.txt",
    "digest/./x.txt",
    "digest//x.txt",
    "digest\\x.txt",
    "digest/.hidden.txt",
    "digest/x.py",
    "digest/x.pyc",
    "digest/x.so",
    "digest/x",
    "digest/x.txt\n",
    "digest/x\0.txt",
    "digest/a b.txt",
    "digest/ü.txt",
    "locales/de/LC_MESSAGES/x.txt",
    "parts/x.mo",
    "x.txt",
    "gazette/x.txt",
    "__init__.py",
    "parts/__init__.py",
    "parts/" + "x" * 200 + ".txt",
    "parts/1/2/3/4/5/6/7.txt",
    "",
]


@pytest.mark.parametrize("name", BAD_PATHS)
def test_invalid_template_path_is_rejected_and_named(name: str) -> None:
    with pytest.raises(BundleError) as refused:
        unpack(with_file(name, {"base64": ""} if name.endswith(".mo") else "x"))
    assert repr(name)[1:-1].rpartition("/")[2] in str(refused.value)


@pytest.mark.parametrize("name", ["parts/evil.py", "parts/evil.pyc", "evil.txt", "parts/a b.txt"])
def test_folder_with_unused_files_is_rejected(tmp_path: Path, name: str) -> None:
    with pytest.raises(BundleError, match=name.rpartition("/")[2]):
        pack(folder(tmp_path, FILES | {name: b"x"}))


def test_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    (folder(tmp_path, FILES) / "parts").mkdir()
    (tmp_path / "parts" / "key.txt").symlink_to("/etc/passwd")
    with pytest.raises(BundleError, match=r"parts/key.txt is a symbolic link"):
        pack(tmp_path)


def test_non_utf8_text_is_rejected_and_named(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=f"{SUBJECT} is not UTF-8"):
        pack(folder(tmp_path, {SUBJECT: b"\xff"}))


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "must be an object with `format` and `files`"),
        ({"format": 1}, "must be an object with `format` and `files`"),
        ({"format": 1, "files": {}, "code": ""}, "must be an object with `format` and `files`"),
        ({"format": 2, "files": {}}, "format 2; this release reads 1"),
        ({"format": 1, "files": []}, "must be an object"),
        ({"format": 1, "files": {SUBJECT: 5}}, "neither as text nor as base64"),
        ({"format": 1, "files": {SUBJECT: {"base64": "eA=="}}}, "neither as text"),
        ({"format": 1, "files": {"locales/de/x.mo": "x"}}, "contains this file as text"),
        ({"format": 1, "files": {"locales/de/x.mo": {"base64": "!"}}}, "invalid base64"),
        ({"format": 1, "files": {"locales/de/x.mo": {"base64": "é"}}}, "invalid base64"),
        ({"format": 1, "files": {SUBJECT: "\ud800"}}, "cannot be encoded in UTF-8"),
    ],
)
def test_document_of_another_format_is_rejected(document: object, said: str) -> None:
    with pytest.raises(BundleError, match=said):
        unpack(packed(document))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"plain",
        gzip.compress(b"{"),
        gzip.compress(b"[" * 100_000),
        with_file(SUBJECT)[:-1],
        with_file(SUBJECT) + b"x",
        with_file(SUBJECT) * 2,
    ],
    ids=["empty", "plain", "no json", "deep", "cut off", "one more byte", "two members"],
)
def test_bytes_that_are_not_a_bundle_are_rejected(content: bytes) -> None:
    with pytest.raises(BundleError):
        unpack(content)


def test_decompression_bomb_is_rejected() -> None:
    bomb = gzip.compress(b" " * (5 * bundle.MAX_BYTES))
    assert len(bomb) < 100_000
    with pytest.raises(BundleError, match="too long"):
        unpack(bomb)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({f"parts/{number}.txt": "" for number in range(bundle.MAX_FILES + 1)}, "2001 files"),
        ({SUBJECT: "x" * (bundle.MAX_BYTES + 1)}, "8000001 characters"),
        (
            {"locales/x.mo": {"base64": base64.b64encode(bytes(bundle.MAX_BYTES)).decode()}},
            "characters",
        ),
    ],
)
def test_too_many_or_too_large_files_are_rejected(files: dict[str, Any], said: str) -> None:
    with pytest.raises(BundleError, match=said):
        unpack(packed({"format": 1, "files": files}))


@given(st.binary(max_size=200))
def test_any_invalid_bytes_raise_a_bundle_error(content: bytes) -> None:
    with pytest.raises(BundleError):
        unpack(content)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(json_values | st.fixed_dictionaries({"format": st.just(1), "files": json_values}))
def test_any_json_is_rejected_or_contains_only_valid_paths(
    document: object,
) -> None:
    try:
        files = unpack(packed(document))
    except BundleError:
        return
    for name in files:
        bundle.check_path(name)
