"""A bundle: built templates and their settings as one document, gzip'd JSON.

`{"format": 1, "files": {"digest/subject.txt": "…", "locales/…/messages.mo": {"base64": "…"}}}`. The
same files make the same bytes, whose SHA-256 is the checksum of the version. A bundle contains no
code except that of templates: no Python and no bytecode.
"""

import base64
import binascii
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORMAT = 1

MAX_FILES = 2_000
MAX_BYTES = 8_000_000
"""The limit in bytes of all files together; ours have 0.4 MB. A process has up to three
versions."""

MAX_PACKED = 4_000_000
"""The limit in bytes of the stored bundle."""

SETTINGS_FILE = "settings.json"
"""The settings that belong to the version (domain/templates/settings.py). Optional."""

_TEXTS = frozenset({".html", ".txt", ".css", ".json"})
_BINARIES = frozenset({".mo"})
_NOTES = frozenset({".md", ".rst"})
_MARKER = "__init__.py"
"""The file that makes the built folder a package of the layer, and has no other purpose."""

_FOLDERS = frozenset(
    {
        "categories",
        "digest",
        "immediate",
        "locales",
        "new-link",
        "parts",
        "preferences",
        "variations",
    }
)
_FILES = frozenset({"brand.json", "email.css", "outlook.css", SETTINGS_FILE})
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_LONGEST_PATH = 200
_DEEPEST = 6


class BundleError(ValueError):
    """An invalid bundle, or a file that must not be in one. The text names the error."""


def pack(folder: Path) -> bytes:
    """Return the bundle of a folder of built templates, without its notes. Raise BundleError."""
    files: dict[str, Any] = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink():
            raise BundleError(f"{name} is a symbolic link; replace it by the file")
        if file.is_dir() or file.suffix in _NOTES or name == _MARKER:
            continue
        check_path(name)
        content = file.read_bytes()
        files[name] = _text(name, content) if file.suffix in _TEXTS else _binary(content)
    _check_sizes(files)
    document = json.dumps({"files": files, "format": FORMAT}, sort_keys=True, separators=(",", ":"))
    packed = io.BytesIO()
    # The header has neither a name nor a time, because either would differ between builds.
    with gzip.GzipFile("", "wb", compresslevel=9, fileobj=packed, mtime=0) as stream:
        stream.write(document.encode())
    content = packed.getvalue()
    if len(content) > MAX_PACKED:
        raise BundleError(f"the bundle has {len(content)} bytes; it may have {MAX_PACKED}")
    return content


def unpack(content: bytes) -> Mapping[str, bytes]:
    """Return the files of a bundle by path.

    Raise BundleError for content that `pack` never writes.
    """
    if len(content) > MAX_PACKED:
        raise BundleError(f"the bundle has {len(content)} bytes; it may have {MAX_PACKED}")
    document = _document(content)
    if not isinstance(document, dict) or document.keys() != {"files", "format"}:
        raise BundleError("the bundle is not an object of format and files")
    if document["format"] != FORMAT:
        raise BundleError(
            f"the bundle has the format {document['format']!r}; this release reads {FORMAT}"
        )
    files = document["files"]
    if not isinstance(files, dict):
        raise BundleError("the files of the bundle are not an object")
    _check_sizes(files)
    return {name: _content(name, written) for name, written in files.items()}


def checksum_of(content: bytes) -> str:
    """Return the SHA-256 of a bundle, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def check_path(name: str) -> None:
    """Raise BundleError for a path that no file of a bundle may have."""
    segments = name.split("/")
    if (
        len(name) > _LONGEST_PATH
        or len(segments) > _DEEPEST
        or not all(map(_SEGMENT.fullmatch, segments))
    ):
        raise BundleError(
            f"{name!r}: a path is relative, of letters, digits, '_', '-' and '.', with at most "
            f"{_LONGEST_PATH} characters and {_DEEPEST} parts"
        )
    if name not in _FILES and (len(segments) == 1 or segments[0] not in _FOLDERS):
        raise BundleError(
            f"{name}: a bundle may contain only {', '.join(sorted(_FILES))} and the folders "
            f"{', '.join(sorted(_FOLDERS))}"
        )
    suffixes = _BINARIES if segments[0] == "locales" else _TEXTS
    if Path(name).suffix not in suffixes:
        raise BundleError(f"{name}: the name must end in {', '.join(sorted(suffixes))}")


def _document(content: bytes) -> object:
    """Return the JSON in a bundle.

    Unpack only a limited size, because a few bytes can expand to gigabytes.
    """
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    longest = 4 * MAX_BYTES  # base64, and escapes
    try:
        text = unpacker.decompress(content, longest)
    except zlib.error as err:
        raise BundleError(f"the bundle is not gzip'd: {err}") from err
    if unpacker.unconsumed_tail or not unpacker.eof or unpacker.unused_data:
        raise BundleError("the bundle is truncated, has trailing data, or is too long")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as err:
        raise BundleError(f"the bundle is not JSON: {err}") from err


def _check_sizes(files: Mapping[str, Any]) -> None:
    if len(files) > MAX_FILES:
        raise BundleError(f"the bundle has {len(files)} files; it may have {MAX_FILES}")
    size = sum(len(written) if isinstance(written, str) else 0 for written in files.values())
    size += sum(
        len(binary)
        for written in files.values()
        if isinstance(written, dict) and isinstance(binary := written.get("base64"), str)
    )
    if size > MAX_BYTES:
        raise BundleError(f"the files have {size} characters; they may have {MAX_BYTES}")


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as err:
        raise BundleError(f"{name} is not UTF-8; save it as UTF-8") from err


def _binary(content: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(content).decode()}


def _content(name: str, written: object) -> bytes:
    check_path(name)
    if isinstance(written, str):
        if Path(name).suffix not in _TEXTS:
            raise BundleError(f"{name}: the bundle has it as text")
        try:
            return written.encode()
        except UnicodeEncodeError as err:  # a lone surrogate
            raise BundleError(f"{name}: its text cannot be encoded in UTF-8") from err
    if (
        isinstance(written, dict)
        and written.keys() == {"base64"}
        and isinstance(written["base64"], str)
        and Path(name).suffix in _BINARIES
    ):
        try:
            return base64.b64decode(written["base64"], validate=True)
        except (binascii.Error, ValueError) as err:
            raise BundleError(f"{name}: its base64 cannot be read") from err
    raise BundleError(f"{name}: the bundle has it neither as text nor as base64")
