"""The bundle format: built templates and their settings in one gzipped JSON document.

`{"format": 1, "files": {"digest/subject.txt": "…", "locales/…/messages.mo": {"base64": "…"}}}`.
Equal files produce equal bytes, whose SHA-256 is the checksum of the version. Apart from templates,
a bundle contains no code: no Python and no bytecode.
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
"""The maximum size of all files together in bytes. The default templates take 0.4 MB. A process
loads up to three versions."""

MAX_PACKED = 4_000_000
"""The maximum size of the stored bundle in bytes."""

SETTINGS_FILE = "settings.json"
"""The optional file with settings of the version (domain/templates/settings.py)."""

CATEGORIES_FILE = "categories.json"
"""The optional file with texts of categories. A bundle contains the templates built from it."""

BUILT = "{#- Built from categories.json. -#}\n"
"""The first line of a template that was built from `CATEGORIES_FILE`."""

_TEXTS = frozenset({".html", ".txt", ".css", ".json"})
_BINARIES = frozenset({".mo"})
_NOTES = frozenset({".md", ".rst"})
_MARKER = "__init__.py"
"""The file that makes the built folder a Python package of the layer. It is not part of the
bundle."""

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
    """An invalid bundle, or a file that a bundle must not contain.

    The message describes the error.
    """


def pack(folder: Path) -> bytes:
    """Return a bundle of a folder of built templates. Omits files with notes. Raises
    BundleError.
    """
    files: dict[str, Any] = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink():
            raise BundleError(f"{name} is a symbolic link; replace the link with the file")
        if file.is_dir() or file.suffix in _NOTES or name == _MARKER:
            continue
        check_path(name)
        content = file.read_bytes()
        files[name] = _text(name, content) if file.suffix in _TEXTS else _binary(content)
    _check_sizes(files)
    document = json.dumps({"files": files, "format": FORMAT}, sort_keys=True, separators=(",", ":"))
    packed = io.BytesIO()
    # The header has no name and no time, because they would differ between builds.
    with gzip.GzipFile("", "wb", compresslevel=9, fileobj=packed, mtime=0) as stream:
        stream.write(document.encode())
    content = packed.getvalue()
    if len(content) > MAX_PACKED:
        raise BundleError(f"the bundle has {len(content)} bytes; it may have {MAX_PACKED}")
    return content


def unpack(content: bytes) -> Mapping[str, bytes]:
    """Return the files of a bundle by path.

    Raises BundleError for content that `pack` never writes.
    """
    if len(content) > MAX_PACKED:
        raise BundleError(f"the bundle has {len(content)} bytes; it may have {MAX_PACKED}")
    document = _document(content)
    if not isinstance(document, dict) or document.keys() != {"files", "format"}:
        raise BundleError("the bundle must be an object with `format` and `files`")
    if document["format"] != FORMAT:
        raise BundleError(
            f"the bundle has the format {document['format']!r}; this release reads {FORMAT}"
        )
    files = document["files"]
    if not isinstance(files, dict):
        raise BundleError("`files` in the bundle must be an object")
    _check_sizes(files)
    return {name: _content(name, written) for name, written in files.items()}


def checksum_of(content: bytes) -> str:
    """Return the SHA-256 of a bundle in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def check_path(name: str) -> None:
    """Raise BundleError for a path that is not allowed in a bundle."""
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
    """Return the JSON document in a compressed bundle.

    Only a limited size is decompressed, because a few bytes can expand to gigabytes.
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
            raise BundleError(f"{name}: the bundle contains this file as text")
        try:
            return written.encode()
        except UnicodeEncodeError as err:  # a lone surrogate
            raise BundleError(f"{name}: the text cannot be encoded in UTF-8") from err
    if (
        isinstance(written, dict)
        and written.keys() == {"base64"}
        and isinstance(written["base64"], str)
        and Path(name).suffix in _BINARIES
    ):
        try:
            return base64.b64decode(written["base64"], validate=True)
        except (binascii.Error, ValueError) as err:
            raise BundleError(f"{name}: invalid base64") from err
    raise BundleError(f"{name}: the bundle contains this file neither as text nor as base64")
