"""Ten emails are rendered at once with one renderer, and each is as if it had been alone."""

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Lock, Thread, get_ident
from typing import Any

import pytest
from gazette.adapters.rendering import fragments, renderer
from gazette.adapters.rendering.environment import environment
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Edition
from gazette.domain.ports.rendering import CacheCount
from gazette.domain.scheduling.kinds import immediate_schedule

from tests.builders import LINKS, a_subscriber, an_event

THREADS = 10
LOCALES = ("en", "de", "he", "en-US", "de-AT", "iw")
ZONES = ("UTC", "Asia/Kathmandu", "America/New_York")
GROUPS = 7


@pytest.fixture(autouse=True)
def _threads_that_take_turns_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def email(renderer: JinjaRenderer, number: int, *, groups: int = GROUPS) -> Edition:
    """The email of a reader; every other has a language, a zone or events of its own."""
    events = [
        an_event(
            f"{group}.{event}",
            user_id=f"reader{number}",
            entity_id=f"post{group}",
            actor=f"Actor {group} {event}",
            category=("comment", "like", "build_failed")[group % 3],
            excerpt=f"About {number // 4 % 5}" if group % 2 else "",
        )
        for group in range(groups)
        for event in range(group + 1)
    ]
    reader = replace(
        a_subscriber(f"reader{number}"),
        name=f"Reader {number}",
        locale=LOCALES[number % len(LOCALES)],
        time_zone=ZONES[number % len(ZONES)],
    )
    schedule = immediate_schedule("post#post1") if number % 7 == 0 else DAILY
    digest = compose(events, max_blocks=20)
    return renderer.render(digest, reader, LINKS, schedule, variation=1 + number % 2)


def at_once(work: Callable[[int], Any], numbers: range) -> list[Any]:
    """What `work` returns for each number, in ten threads."""
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(work, numbers))


def test_ten_threads_render_the_same_emails_as_a_single_thread(built_templates: Path) -> None:
    alone, shared = JinjaRenderer(built_templates), JinjaRenderer(built_templates)
    readers = range(200)
    assert at_once(lambda number: email(shared, number), readers) == [
        email(alone, number) for number in readers
    ]


def test_ten_threads_render_correctly_while_the_cache_evicts(
    built_templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "CACHED_BYTES", 20_000)
    alone, shared = JinjaRenderer(built_templates), JinjaRenderer(built_templates)
    readers = range(100)
    assert at_once(lambda number: email(shared, number), readers) == [
        email(alone, number) for number in readers
    ]


def test_each_group_is_counted_once_across_threads(built_templates: Path) -> None:
    shared = JinjaRenderer(built_templates)

    def counted(number: int) -> CacheCount:
        email(shared, number)
        return shared.take_count()

    counts = [*at_once(counted, range(200)), shared.take_count()]
    assert sum(count.hits + count.misses for count in counts) == 200 * GROUPS
    assert all(count.hits >= 0 and count.misses >= 0 for count in counts)


def test_cache_is_accessed_only_under_its_lock(
    built_templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that comes in between is too rare to wait for."""
    shared = JinjaRenderer(built_templates)
    cache = shared._fragments

    def locked(real: Callable[..., Any], lock: Lock = cache._lock) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            called.add(real.__name__)
            assert lock.locked()
            return real(*given, **named)

        return call

    class Kept(OrderedDict[Any, Any]):
        get = locked(OrderedDict.get)
        setdefault = locked(OrderedDict.setdefault)
        move_to_end = locked(OrderedDict.move_to_end)
        popitem = locked(OrderedDict.popitem)

    called = set[str]()
    cache._cached = Kept()
    monkeypatch.setattr(fragments, "CacheCount", locked(CacheCount, shared._count._lock))
    monkeypatch.setattr(fragments, "CACHED_BYTES", 30_000)
    for number in (1, 1, 2, 3):
        email(shared, number)
    assert shared.take_count() == CacheCount(hits=GROUPS, misses=3 * GROUPS)
    assert called == {"get", "setdefault", "move_to_end", "popitem", "CacheCount"}


def test_fragment_rendered_by_many_threads_is_cached_once(
    built_templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All have missed it when the first begins. Then one more email fits beside it, as ever."""
    shared, alone = JinjaRenderer(built_templates), JinjaRenderer(built_templates)
    email(alone, 1)
    held = alone._fragments._bytes
    real, missed, waited = vars(fragments)["clean"], Barrier(THREADS), set[int]()

    def together(*given: Any) -> Any:
        if get_ident() not in waited:
            waited.add(get_ident())
            missed.wait(30)
        return real(*given)

    monkeypatch.setattr(fragments, "clean", together)
    at_once(lambda _: email(shared, 1), range(THREADS))
    assert shared.take_count() == CacheCount(hits=0, misses=THREADS * GROUPS)
    assert shared._fragments._bytes == held
    email(shared, 1)
    assert shared.take_count() == CacheCount(hits=GROUPS, misses=0)


@pytest.mark.parametrize("made", ["templates", "language"])
def test_threads_share_cache_keys(
    built_templates: Path, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    """If each had its own, none would find what another has rendered."""
    calls, both = [], Barrier(2)

    def slow(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            calls.append(given)
            with suppress(BrokenBarrierError):
                both.wait(0.2)  # as long as it takes for a second one to come, if one may
            return real(*given, **named)

        return call

    if made == "templates":
        shared = JinjaRenderer(built_templates)  # has only the environment of the first variation
        monkeypatch.setattr(renderer, "environment", slow(environment))
    else:
        monkeypatch.setattr(Languages, "_negotiate", slow(Languages._negotiate))
        shared = JinjaRenderer(built_templates)
        calls.clear()  # the language of the templates is loaded at once
    threads = [Thread(target=email, args=(shared, 1)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
