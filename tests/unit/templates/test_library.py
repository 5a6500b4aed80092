"""The versions that a process has: each fetched, verified and loaded once, at most three."""

import gc
import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread

import pytest
from gazette.adapters.cached import READ_INTERVAL
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.templates.bundle import checksum_of, pack
from gazette.adapters.templates.library import MOST, Library
from gazette.adapters.templates.unpacked import Unpacked
from gazette.domain.errors import Unavailable, VersionGone, VersionUnusable
from gazette.domain.ports.rendering import VersionTemplates
from gazette.domain.templates.versions import PushedVersion, Version

from tests.builders import NOW, SettableClock
from tests.fake_templates import FakeBundles, FakeTemplateVersions
from tests.fakes import FakeRenderer


class Place:
    """A library, what is behind it, and what it has told."""

    def __init__(self, folder: Path, clock: SettableClock) -> None:
        self.folder, self.clock = folder, clock
        self.bundles, self.versions = FakeBundles(), FakeTemplateVersions()
        self.failed: list[tuple[int, str]] = []
        self.loaded: list[Path] = []
        self.waited = 0
        self.deployed = VersionTemplates(0, FakeRenderer())
        self.library = Library(
            deployed=self.deployed,
            bundles=self.bundles,
            versions=self.versions,
            load=self.load,
            failed=lambda number, err: self.failed.append((number, str(err))),
            clock=clock,
            waiting=self.waiting,
        )

    @contextmanager
    def waiting(self) -> Iterator[None]:
        self.waited += 1
        yield

    def load(self, number: int, unpacked: Unpacked) -> VersionTemplates:
        self.loaded.append(unpacked.path)
        text = (unpacked.path / "parts" / "a.txt").read_text()
        if text == "broken":
            raise RuntimeError("it is broken")
        return VersionTemplates(number, Held(unpacked, text))

    def push(self, number: int, text: str = "fine") -> Version:
        (self.folder / "parts").mkdir(exist_ok=True)
        (self.folder / "parts" / "a.txt").write_text(text)
        content = pack(self.folder)
        version = Version(number, checksum_of(content))
        self.bundles.put(version, content)
        self.versions.add(PushedVersion(version, len(content), NOW, "ann"))
        return version


class Held(FakeRenderer):
    def __init__(self, held: Unpacked, mark: str) -> None:
        super().__init__(mark=mark)
        self.held = held


@pytest.fixture
def place(tmp_path: Path, clock: SettableClock) -> Place:
    return Place(tmp_path, clock)


def test_version_is_fetched_and_loaded_once(place: Place) -> None:
    version = place.push(7)
    first = place.library.get(version)
    assert place.library.get(version) is first
    assert place.library.numbered(7) is first
    assert (place.bundles.reads, len(place.loaded), place.waited) == (1, 1, 1)


def test_concurrent_threads_fetch_a_version_once(place: Place) -> None:
    version, barrier, got = place.push(7), Barrier(8), []

    def want() -> None:
        barrier.wait()
        got.append(place.library.get(version))

    threads = [Thread(target=want) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert len({id(each) for each in got}) == 1
    assert (place.bundles.reads, len(place.loaded)) == (1, 1)


def test_loading_a_version_does_not_block_loaded_versions(place: Place) -> None:
    """Versions that are loaded already are given out while a new one takes its time."""
    six, seven = place.push(6), place.push(7)
    place.library.get(six)
    begun, go_on = threading.Event(), threading.Event()
    load = place.library._load

    def slowly(number: int, unpacked: Unpacked) -> VersionTemplates:
        begun.set()
        assert go_on.wait(10)
        return load(number, unpacked)

    place.library._load = slowly
    thread = Thread(target=lambda: place.library.get(seven))
    thread.start()
    assert begun.wait(10)
    assert place.library.get(six).number == 6
    go_on.set()
    thread.join()


def test_tampered_bundle_is_never_unpacked(place: Place) -> None:
    version = place.push(7)
    other = gzip.compress(b"{}")
    place.bundles.put(version, other)
    with pytest.raises(VersionUnusable, match="version 7 differs from the pushed one"):
        place.library.get(version)
    assert place.loaded == []
    assert [number for number, _ in place.failed] == [7]


def test_invalid_bundle_with_a_matching_checksum_is_rejected(place: Place) -> None:
    content = gzip.compress(b"[]")
    version = Version(7, checksum_of(content))
    place.bundles.put(version, content)
    with pytest.raises(VersionUnusable, match="must be an object with `format` and `files`"):
        place.library.get(version)


def test_any_error_while_loading_makes_the_version_unusable(place: Place) -> None:
    with pytest.raises(VersionUnusable, match="RuntimeError: it is broken"):
        place.library.get(place.push(7, "broken"))


def test_any_store_error_is_raised_as_unavailable(place: Place) -> None:
    """An error that nobody expected must not fail emails that can be made otherwise."""
    version = place.push(7)
    place.bundles.raises = KeyError("documentation")
    with pytest.raises(Unavailable, match="Version 7: KeyError: 'documentation'"):
        place.library.get(version)
    assert [number for number, _ in place.failed] == [7]


@pytest.mark.parametrize("pushed", [True, False])
def test_missing_version_is_reported_as_gone(place: Place, pushed: bool) -> None:
    if pushed:
        place.push(7)
        place.bundles.stored.clear()
    with pytest.raises(VersionGone, match="ersion 7"):
        place.library.numbered(7)


def test_failed_version_is_retried_and_reported_once_a_minute(
    place: Place, clock: SettableClock
) -> None:
    version = place.push(7)
    place.bundles.working = False
    for _ in range(3):
        with pytest.raises(Unavailable, match="does not answer"):
            place.library.get(version)
    assert (place.bundles.reads, len(place.failed)) == (1, 1)
    clock.now += READ_INTERVAL
    with pytest.raises(Unavailable):
        place.library.get(version)
    assert (place.bundles.reads, len(place.failed)) == (2, 2)
    place.bundles.working = True
    clock.now += READ_INTERVAL - timedelta(seconds=1)
    with pytest.raises(Unavailable):
        place.library.get(version)
    clock.now += timedelta(seconds=1)
    assert place.library.get(version).number == 7


def test_least_recently_used_version_is_evicted_with_its_folder(place: Place) -> None:
    versions = [place.push(number) for number in range(1, MOST + 1)]
    for version in versions:
        place.library.get(version)
    place.library.get(versions[0])
    place.library.get(place.push(9))
    gc.collect()
    assert [path.exists() for path in place.loaded] == [True, False, True, True]
    assert place.bundles.reads == MOST + 1
    place.library.get(versions[0])
    assert place.bundles.reads == MOST + 1
    place.library.get(versions[1])
    assert place.bundles.reads == MOST + 2


def test_folder_exists_as_long_as_its_renderer_is_in_use(place: Place) -> None:
    """A thread may still render with a version that others have pushed out of the process."""
    renderer = place.library.get(place.push(1)).renderer
    for number in range(2, MOST + 3):
        place.library.get(place.push(number))
    gc.collect()
    assert place.loaded[0].exists()
    del renderer
    gc.collect()
    assert not place.loaded[0].exists()


def test_renderer_keeps_a_reference_to_its_folder(built_templates: Path) -> None:
    unpacked = Unpacked(
        {
            file.relative_to(built_templates).as_posix(): file.read_bytes()
            for file in built_templates.rglob("*.*")
            if file.is_file()
        }
    )
    path = unpacked.path
    renderer = JinjaRenderer(path, held=unpacked).for_sending(
        tracks_clicks=False, measured=nullcontext
    )
    del unpacked
    gc.collect()
    assert path.exists()
    del renderer
    gc.collect()
    assert not path.exists()
