"""The texts of a file, each with its kind and lines: pages in Markdown, modules in Python."""

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TypeGuard


class Kind(StrEnum):
    """The place of a text."""

    TOP = "the first paragraph of a page"
    PARAGRAPH = "a paragraph, a list item or a cell"
    HEADING = "a heading"
    MODULE = "the docstring of a module"
    FUNCTION = "the docstring of a function"
    VALUE = "the docstring of a property or a fixture"
    CLASS = "the docstring of a class"
    FIELD = "the docstring of a field or a constant"
    COMMENT = "a comment"
    DESCRIPTION = "the description of a field, an option or a resource"
    STRING = "a string"
    NAME = "the name of a variable"


DOCSTRINGS = frozenset({Kind.MODULE, Kind.FUNCTION, Kind.VALUE, Kind.CLASS, Kind.FIELD})
PROSE = frozenset(Kind) - {Kind.NAME}

STORED_NAMES = frozenset({"left", "taken", "shown"})
"""Attributes of rows, and of what templates read. They leave the process, so they are not renamed.
"""

_FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_QUOTE = re.compile(r'"[^"\n]*(?:\n[^"\n]+)?"|“[^”]*”')
_TARGET = re.compile(r"(?<=\])\([^)\s]+\)")
_URL = re.compile(r"https?://\S+")
_BULLET = re.compile(r"^ *(?:[-*+]|\d+\.) +")
_WORD = re.compile(r"\S+")
_EMPHASIS = re.compile(r"\*\*|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_SENTENCE = re.compile(r"[.!?:;][\")\]]* +(?=[A-Z\"`\[])")
_LETTERS = re.compile(r"(?:^|(?<=\s))[A-Za-z]{2,}\b")
_SOURCE = re.compile(
    r"\w\(|\]\(| [=!]= | = |^ *(?:if|elif|for|while|def|class) .*:$|^ *return [\w.]+$|[{;]$",
    re.MULTILINE,
)
"""A string with a line that matches is source code, such as a statement or a rule of CSS."""

_A_SENTENCE = 3
"""A string with fewer words is a key or a label."""


@dataclass(frozen=True)
class Text:
    """A text on one line. `lines`: the number of the line by the offset at which it begins."""

    path: str
    kind: Kind
    content: str
    lines: tuple[tuple[int, int], ...]

    def line(self, offset: int) -> int:
        """Return the number of the line at an offset."""
        return self.lines[bisect_right(self.lines, (offset, 10**9)) - 1][1]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The offsets at which a sentence starts."""
        return (0, *(match.end() for match in _SENTENCE.finditer(self.content)))

    def sentence(self, offset: int) -> tuple[int, str]:
        """Return the start of the sentence at an offset, and the sentence."""
        number = bisect_right(self.starts, offset)
        begin = self.starts[number - 1]
        end = self.starts[number] if number < len(self.starts) else len(self.content)
        return begin, self.content[begin:end].rstrip()


def read(path: Path, name: str) -> list[Text]:
    """Return the texts of a file. `name`: the path as it is reported."""
    source = path.read_text()
    if path.suffix == ".md":
        return list(_page(source, name))
    if path.name == "Makefile":
        return list(_makefile(source, name))
    return list(_module(source, name))


def _page(source: str, name: str) -> Iterator[Text]:
    for pattern in (_FENCE, _COMMENT, _TAG):
        source = _blanked(pattern, source, " ")
    source = _masked(source)
    block: list[tuple[int, str]] = []
    is_top = True
    for number, line in enumerate([*source.split("\n"), ""], start=1):
        is_row = line.lstrip().startswith("|")
        is_heading = line.startswith("#")
        if block and (not line.strip() or is_row or is_heading or _BULLET.match(line)):
            yield _text(name, Kind.TOP if is_top else Kind.PARAGRAPH, block)
            block, is_top = [], False
        if is_heading:
            yield _text(name, Kind.HEADING, [(number, line.lstrip("# "))])
        elif is_row:
            for cell in line.strip().strip("|").split("|"):
                if cell.strip(" -:"):
                    yield _text(name, Kind.PARAGRAPH, [(number, cell)])
        elif line.strip():
            block.append((number, _BULLET.sub("", line, count=1)))


def _masked(source: str) -> str:
    """Blank out code, quotes and targets of links: their words are not ours."""
    source = _blanked(_URL, _blanked(_CODE, source, "`"), "`")
    return _blanked(_QUOTE, _blanked(_TARGET, source, " "), '"')


def _blanked(pattern: re.Pattern[str], source: str, filler: str) -> str:
    """Replace each character of each match but line ends."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", filler, match[0]), source)


def _text(name: str, kind: Kind, block: list[tuple[int, str]]) -> Text:
    """Join lines by single spaces, without the signs of emphasis."""
    content = ""
    lines = []
    for number, line in block:
        words = " ".join(_WORD.findall(_EMPHASIS.sub("", line)))
        if words:
            lines.append((len(content), number))
            content += f"{words} "
    return Text(name, kind, content.rstrip(), tuple(lines) or ((0, block[0][0]),))


def _makefile(source: str, name: str) -> Iterator[Text]:
    for number, line in enumerate(source.split("\n"), start=1):
        if text := re.search(r"(?:^# | ## )(.+)", line):
            yield _text(name, Kind.COMMENT, [(number, _masked(text[1]))])


def _module(source: str, name: str) -> Iterator[Text]:
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    docstrings = [each for node in nodes for each in _docstrings(node)]
    for kind, constant in docstrings:
        yield _documented(name, kind, constant)
    yield from _strings(nodes, name, {id(constant) for _, constant in docstrings})
    yield from _names(nodes, name)
    if "#" in source:
        yield from _comments(source, name)


def _documented(name: str, kind: Kind, constant: ast.Constant) -> Text:
    lines = _masked(str(constant.value)).split("\n")
    return _text(name, kind, list(enumerate(lines, start=constant.lineno)))


_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _docstrings(node: ast.AST) -> Iterator[tuple[Kind, ast.Constant]]:
    body = getattr(node, "body", None)
    if not isinstance(body, list) or not body:
        return
    first = body[0]
    if _is_string(first) and isinstance(node, _Documented):
        yield _kind_of(node), first.value
    for before, after in pairwise(body):
        if isinstance(before, ast.Assign | ast.AnnAssign) and _is_string(after):
            yield Kind.FIELD, after.value


class _StringStatement(ast.Expr):
    value: ast.Constant


def _is_string(node: ast.stmt) -> TypeGuard[_StringStatement]:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _kind_of(node: _Documented) -> Kind:
    match node:
        case ast.Module():
            return Kind.MODULE
        case ast.ClassDef():
            return Kind.CLASS
    decorators = " ".join(map(ast.unparse, node.decorator_list))
    is_value = re.search(r"property|fixture|\.setter", decorators)
    return Kind.VALUE if is_value or node.name.startswith("test_") else Kind.FUNCTION


def _strings(nodes: list[ast.AST], name: str, docstrings: set[int]) -> Iterator[Text]:
    """Yield the strings that are sentences, but not those that are source code."""
    others = docstrings | {
        id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
    }
    descriptions = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.keyword) and node.arg in {"description", "help"}
    }
    for node in nodes:
        match node:
            case ast.JoinedStr(values=values):
                content = "".join(_part(value) for value in values)
            case ast.Constant(value=str(content)) if id(node) not in others:
                pass
            case _:
                continue
        content = _masked(content)
        if len(_LETTERS.findall(content)) >= _A_SENTENCE and not _SOURCE.search(content):
            lines = content.split("\n")
            kind = Kind.DESCRIPTION if id(node) in descriptions else Kind.STRING
            yield _text(name, kind, [(node.lineno, line) for line in lines])


def _part(value: ast.expr) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else "`…`"


def _names(nodes: list[ast.AST], name: str) -> Iterator[Text]:
    stored = {id(target) for node in nodes for target in _stored_attributes(node)}
    for node in nodes:
        if id(node) in stored:
            continue
        match node:
            case ast.Name(id=given, ctx=ast.Store()):
                yield Text(name, Kind.NAME, given, ((0, node.lineno),))
            case ast.ExceptHandler(name=str(given)):
                yield Text(name, Kind.NAME, given, ((0, node.lineno),))


def _stored_attributes(node: ast.AST) -> Iterator[ast.expr]:
    for statement in node.body if isinstance(node, ast.ClassDef) else ():
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        for target in targets:
            if isinstance(target, ast.Name) and target.id in STORED_NAMES:
                yield target


def _comments(source: str, name: str) -> Iterator[Text]:
    """Return the comments, those of neighbouring lines as one."""
    block: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or re.match(r"#\s*(?:noqa|type:|ruff:)", token.string):
            continue
        number = token.start[0]
        if block and number != block[-1][0] + 1:
            yield _text(name, Kind.COMMENT, block)
            block = []
        block.append((number, _masked(token.string.lstrip("#: "))))
    if block:
        yield _text(name, Kind.COMMENT, block)
