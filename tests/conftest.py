"""What all tests share."""

import gc
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
import typer.testing
from gazette.adapters.aws import clients
from gazette.settings.environment import use_pinned_zones
from hypothesis import HealthCheck, settings
from jinja2 import Environment

from gazette_cdk.assets.templates import build, catalogues
from gazette_cdk.assets.templates.build import build_templates
from tests.aws_once import aws_once
from tests.builders import SettableClock

ROOT = Path(__file__).parents[1]

settings.register_profile(
    "whatever the time",
    deadline=None,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("whatever the time")
"""Examples have no deadline, because their duration depends on the load of the machine. Each run
tries other examples, even if the environment variable CI is set.
"""

settings.register_profile("few", settings.get_profile("whatever the time"), max_examples=10)
"""For a second run of the same tests, on another Python."""

settings.register_profile("short", settings.get_profile("whatever the time"), max_examples=40)
"""For CI."""

_BOUNDED = ("few", "short")


@pytest.hookimpl(trylast=True)  # behind Hypothesis, which reads --hypothesis-profile
def pytest_configure() -> None:
    """Read the pinned time zones, here and in every process that a test starts.

    The garbage collector need not look after every 700 objects (Python's default): that takes a
    sixth of the time of the collection, and a twelfth of that of the tests.
    """
    os.environ["PYTHONTZPATH"] = use_pinned_zones()
    profile = settings.get_current_profile_name()
    if profile in _BOUNDED:
        _bound_examples(settings.get_profile(profile).max_examples)
    gc.set_threshold(50_000, 20, 50)


def _bound_examples(most: int) -> None:
    """Also where a test says how many examples it tries, it tries no more than `most`."""
    init = settings.__init__

    def bounded(self: settings, parent: settings | None = None, **given: Any) -> None:
        if "max_examples" in given:
            given["max_examples"] = min(given["max_examples"], most)
        init(self, parent, **given)

    pytest.MonkeyPatch().setattr(settings, "__init__", bounded)


def pytest_collection_finish() -> None:
    """What is imported by now stays: the garbage collector need not look through it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def aws_is_read_once() -> Iterator[None]:
    """Share AWS clients, and what they read, between the tests of a process."""
    with aws_once():
        yield


@pytest.fixture(autouse=True)
def clients_are_made_anew() -> Iterator[None]:
    """A process keeps its AWS clients, and with them the endpoints of one test."""
    yield
    clients.forget()


@pytest.fixture(scope="session", autouse=True)
def commands_are_built_once() -> Iterator[None]:
    """Typer would build all commands of the program for each one that a test runs."""
    with pytest.MonkeyPatch.context() as patch:
        testing: Any = typer.testing
        patch.setattr(testing, "_get_command", cache(testing._get_command))
        yield


@pytest.fixture(scope="session", autouse=True)
def templates_are_worked_on_once() -> Iterator[None]:
    """The same page with the same style sheet comes to the same, what compiled compiles again, and
    the same catalogues are read and written alike: premailer, Jinja and Babel take their time.
    """
    check, compiled = build._check, set[str]()
    compile_catalogues, written = catalogues.compile_catalogues, dict[object, dict[str, bytes]]()

    def check_once(text: str, origin: Path, target: Path) -> None:
        if text not in compiled:
            check(text, origin, target)
            compiled.add(text)

    def compile_catalogues_once(source: Path, overlay: Path | None, target: Path) -> None:
        folders = (source, overlay) if overlay else (source,)
        key = tuple(tuple(_contents(each, "locales/**/*").items()) for each in folders)
        if key not in written:
            compile_catalogues(source, overlay, target)
            written[key] = _contents(target, "locales/*/LC_MESSAGES/*.mo")
            return
        for name, content in written[key].items():
            file = target / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.with_suffix(".po").unlink(missing_ok=True)
            file.write_bytes(content)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("inline", "inline_part"):
            patch.setattr(build, name, cache(getattr(build, name)))
        patch.setattr(build, "_check", check_once)
        patch.setattr(build, "compile_catalogues", compile_catalogues_once)
        yield


def _contents(folder: Path, pattern: str) -> dict[str, bytes]:
    """By path inside the folder; a folder has none."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.glob(pattern))
    }


@pytest.fixture(scope="session", autouse=True)
def jinja_compiles_once() -> Iterator[None]:
    """The same source of the same name compiles to the same code, whatever folder it is in."""
    real, known = Environment.compile, dict[tuple[object, ...], CodeType]()

    def compile_once(
        self: Environment,
        source: str,
        name: str | None = None,
        filename: str | None = None,
        raw: bool = False,
        defer_init: bool = False,
    ) -> CodeType | str:
        if raw or not isinstance(source, str):
            return real(self, source, name, filename, raw, defer_init)
        key = (type(self), *self.extensions, *self.filters, source, name, defer_init)
        if key not in known:
            known[key] = real(self, source, name, filename, raw, defer_init)
        return known[key].replace(co_filename=filename or "<template>")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Environment, "compile", compile_once)
        yield


@pytest.fixture(scope="session")
def built_templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The templates as the layer ships them."""
    target = tmp_path_factory.mktemp("layer") / "gazette_templates"
    build_templates(ROOT / "templates", target)
    return target


@pytest.fixture
def templates_on_path(built_templates: Path) -> Iterator[None]:
    """Make the templates importable, as in a function."""
    sys.path.insert(0, str(built_templates.parent))
    yield
    sys.path.remove(str(built_templates.parent))


@pytest.fixture
def clock() -> SettableClock:
    """A clock that a test moves."""
    return SettableClock()
