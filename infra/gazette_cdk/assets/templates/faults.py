"""The faults of templates, each with its file and line, which the build reports all at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """A fault in a file. The text describes the problem and the change to make."""

    file: str

    # 0 if the fault has no line, such as a missing file.
    line: int

    text: str

    def __str__(self) -> str:
        """Return the fault as `file:line: text`, which editors and terminals link to the line.

        A file in the working directory has a relative path.
        """
        file, here = Path(self.file), Path.cwd()
        path = file.relative_to(here) if file.is_relative_to(here) else file
        return f"{path}:{self.line}: {self.text}" if self.line else f"{path}: {self.text}"


class TemplateError(Exception):
    """Templates that cannot be built. Each line of the message describes one fault."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = tuple(sorted({*faults}))
        super().__init__("\n".join(map(str, self.faults)))


def fault(file: Path | str, text: str, *, line: int = 0) -> TemplateError:
    """Return a TemplateError with one fault."""
    return TemplateError(Fault(str(file), line, text))


@dataclass(slots=True)
class Faults:
    """The faults so far."""

    items: list[Fault] = field(default_factory=list)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect the faults of a TemplateError, and continue after the block."""
        try:
            yield
        except TemplateError as err:
            self.items += err.faults

    def raise_all(self) -> None:
        """Raise TemplateError if there are faults."""
        if self.items:
            raise TemplateError(*self.items)

    def files(self) -> set[Path]:
        """Return the files that have faults."""
        return {Path(each.file) for each in self.items}


def line_of(text: str, part: str) -> int:
    """Return the line of the first occurrence of `part`, or 0."""
    start = text.find(part)
    return text.count("\n", 0, start) + 1 if start >= 0 else 0


def line_of_json_error(err: BaseException) -> int:
    """Return the line at which a JSON parser stopped, or 0."""
    cause: BaseException | None = err
    while cause is not None:
        if isinstance(cause, JSONDecodeError):
            return cause.lineno
        cause = cause.__cause__
    return 0


def read_text(file: Path, *, name: Path | None = None) -> str:
    """Return the text of a file. Raise TemplateError, which names `name`, if it is not UTF-8."""
    content = file.read_bytes()
    try:
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as err:
        line = content.count(b"\n", 0, err.start) + 1
        raise fault(name or file, "not UTF-8. Save the file as UTF-8.", line=line) from err
