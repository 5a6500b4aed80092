"""Putting a file: the order, the rate, the state, and a second run that continues."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from gazette.domain.subscribers.suppression import Suppression

from gazette_cli.imports import pacing, putting
from gazette_cli.imports.items import DETAIL_TYPES, Kind
from gazette_cli.imports.pacing import COUNTED_AFTER, LONGEST_DRAIN, BackPressure, TokenBucket
from gazette_cli.imports.putting import Target, put_all
from gazette_cli.imports.state import State, read_state, state_path
from gazette_cli.shared.console import NotPossible
from tests.builders import NOW
from tests.unit.imports.files import follow, reader, suppression, write


class Killed(BaseException):
    """The process is killed."""


@pytest.fixture(autouse=True)
def queue_is_counted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "COUNTED_AFTER", 0)


@dataclass
class Clock:
    """A clock on which sleep passes time."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class Stage:
    """A stage that remembers what was put, and may be killed before or after any put."""

    put: list[tuple[str, str]] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    kill_at: int = 0
    calls: int = 0
    clock: Clock = field(default_factory=Clock)

    def target(self, *, rate: float = 1e9, most: int = 10) -> Target:
        return Target(
            publish=lambda details, kind: self._take([(kind, str(each)) for each in details]),
            suppress=lambda given: self._take([("suppression", each.address) for each in given]),
            bucket=TokenBucket(rate, clock=self.clock, sleep=self.clock.sleep),
            pressure=BackPressure(
                lambda: self.waiting.pop(0) if self.waiting else 0,
                unprocessed=lambda: 0,
                most=most,
                clock=self.clock,
                sleep=self.clock.sleep,
            ),
        )

    def _take(self, items: Sequence[tuple[str, str]]) -> None:
        self.calls += 1
        if self.calls == self.kill_at:
            raise Killed
        self.put += items
        if self.calls == -self.kill_at:
            raise Killed


class Display:
    """A progress that only remembers."""

    def __init__(self) -> None:
        self.shown: list[object] = []

    def put(self, kind: Kind, done: int, total: int) -> None:
        self.shown.append((kind, done, total))

    def waiting(self, messages: int) -> None:
        self.shown.append(messages)


def state_of(*lines: dict[str, Any]) -> State:
    kinds = [Kind(next(iter(line))) for line in lines]
    totals = {str(kind): kinds.count(kind) for kind in Kind}
    return State("hash", "prod", "shop", "", totals)


LINES = [
    line
    for number in range(4)
    for line in (follow(number), reader(number), suppression(number), follow(number, "p2"))
]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(putting, "A_CHUNK", 3)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "f", *LINES)


def run(file: Path, stage: Stage, display: Display | None = None, **given: Any) -> State:
    """As the command does: with the stored state, or from the beginning."""
    path = state_path(file)
    state = read_state(path) or state_of(*LINES)
    put_all(file, state, path, to=stage.target(**given), progress=display or Display(), now=NOW)
    return state


def test_kinds_are_put_in_order(file: Path) -> None:
    stage = Stage()
    state = run(file, stage)
    assert [kind for kind, _ in stage.put] == [
        *["suppression"] * 4,
        *["subscriber.changed"] * 4,
        *["follow.created"] * 8,
    ]
    assert state.acknowledged == state.totals
    stored = read_state(state_path(file))
    assert stored == state
    assert state.is_finished


@pytest.mark.parametrize("kill_at", [*range(-7, 0), *range(1, 8)])
def test_killed_import_continues_and_puts_everything(file: Path, kill_at: int) -> None:
    """Before the put or after it: at most one chunk is put twice."""
    stage, whole = Stage(kill_at=kill_at), Stage()
    with pytest.raises(Killed):
        run(file, stage)
    before = len(stage.put)
    stage.kill_at = 0
    assert run(file, stage).is_finished
    (other := file.with_name("other")).write_bytes(file.read_bytes())
    run(other, whole)
    assert sorted(set(stage.put)) == sorted(whole.put)
    assert len(stage.put) - len(whole.put) <= (3 if kill_at < 0 else 0)
    assert before < len(stage.put)


def test_state_names_what_is_acknowledged_after_each_chunk(file: Path) -> None:
    stage = Stage(kill_at=3)
    with pytest.raises(Killed):
        run(file, stage)
    content = json.loads(state_path(file).read_text())
    assert content["kind"] == "suppression"
    assert content["acknowledged"] == {"suppression": 4, "subscriber": 0, "follow": 0}
    assert not content["is_finished"]
    assert 0 < content["place"]["offset"] <= file.stat().st_size
    assert not file.with_name("f.state.new").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', '{"version": 1}', "7"])
def test_state_that_is_none_is_refused_with_a_remedy(tmp_path: Path, text: str) -> None:
    path = tmp_path / "f.state"
    path.write_text(text)
    with pytest.raises(NotPossible, match="is not the state of an import"):
        read_state(path)


def test_rate_is_kept(tmp_path: Path) -> None:
    lines = [reader(number) for number in range(30)]
    file, stage = write(tmp_path / "f", *lines), Stage()
    put_all(
        file,
        state_of(*lines),
        state_path(file),
        to=stage.target(rate=2),
        progress=Display(),
        now=NOW,
    )
    assert stage.clock.now == pytest.approx((30 - 2) / 2)


def test_chunk_has_at_most_the_items_of_a_second(file: Path) -> None:
    """So that little is on the way when ingest falls behind."""
    stage, slow = Stage(), Stage()
    run(file, stage)
    state_path(file).unlink()
    run(file, slow, rate=2)
    assert slow.calls == 8
    assert stage.calls == 7


def test_chunk_has_at_most_the_messages_that_may_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(putting, "A_CHUNK", 1000)
    lines = [reader(number) for number in range(450)]
    stage, sizes = Stage(), list[int]()
    target = stage.target(most=2)
    put_all(
        write(tmp_path / "f", *lines),
        state_of(*lines),
        state_path(tmp_path / "f"),
        to=replace(target, publish=lambda details, _: sizes.append(len(details))),
        progress=Display(),
        now=NOW,
    )
    assert sizes == [200, 200, 50]
    assert stage.clock.slept == [1.0, 1.0]


def test_pause_saves_up_one_second_at_most() -> None:
    clock = Clock()
    bucket = TokenBucket(10, clock=clock, sleep=clock.sleep)
    bucket.take(10)
    clock.now = 100
    bucket.take(10)
    assert clock.slept == []
    bucket.take(5)
    assert clock.slept == [0.5]


def test_import_waits_while_the_ingest_queue_is_full(file: Path) -> None:
    stage, display = Stage(waiting=[11, 12, 10]), Display()
    run(file, stage, display, most=10)
    assert stage.clock.slept == [1.0, 1.0, 1.0]  # the last one because 10 left no room
    assert [each for each in display.shown if isinstance(each, int)] == [11, 12]


def test_queue_is_counted_once_a_second_at_most() -> None:
    clock, looks = Clock(), list[float]()

    def count() -> int:
        looks.append(clock.now)
        return 0

    pressure = BackPressure(count, unprocessed=count, most=3, clock=clock, sleep=clock.sleep)
    for clock.now in (0, 0.5, 0.9, 1, 1.9, 2):
        pressure.wait(1, lambda _: None)
    assert looks == [0, 1, 2]


@pytest.mark.parametrize("a_chunk", [1, 2, 3, 10])
def test_no_more_messages_pass_between_two_counts_than_have_room(a_chunk: int) -> None:
    clock, passed = Clock(), Counter[float]()
    pressure = BackPressure(
        lambda: 2, unprocessed=lambda: 2, most=5, clock=clock, sleep=clock.sleep
    )
    for _ in range(12):
        pressure.wait(a_chunk, lambda _: None)
        passed[clock.now] += a_chunk
    assert max(passed.values()) <= max(3, a_chunk)
    assert [*passed] == [*range(len(passed))]


@pytest.mark.parametrize(
    ("left", "at", "unprocessed"),
    [
        (lambda second: second < 1, COUNTED_AFTER, 0),
        (lambda second: second == 30, COUNTED_AFTER, 0),  # SQS counted late
        (lambda second: second < 90 or second % 3 == 0, 91, 0),  # live events
        (lambda _: True, LONGEST_DRAIN, 1),
    ],
)
def test_drain_waits_a_minute_and_until_nothing_is_left(
    left: Callable[[float], bool], at: float, unprocessed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pacing, "COUNTED_AFTER", COUNTED_AFTER)
    clock, counts = Clock(), list[int]()
    pressure = BackPressure(
        lambda: 0,
        unprocessed=lambda: int(left(clock.now)),
        most=1,
        clock=clock,
        sleep=clock.sleep,
    )
    assert pressure.drain(counts.append) == unprocessed
    assert clock.now == at == len(counts)


def test_progress_is_shown_by_kind(file: Path) -> None:
    display = Display()
    run(file, Stage(), display)
    assert display.shown[:3] == [
        (Kind.SUPPRESSION, 0, 4),
        (Kind.SUPPRESSION, 3, 4),
        (Kind.SUPPRESSION, 4, 4),
    ]
    assert display.shown[-1] == (Kind.FOLLOW, 8, 8)


def test_suppression_is_put_as_a_suppression(tmp_path: Path) -> None:
    line = suppression(1, reason="bounced", since="2025-01-01")
    file, given = write(tmp_path / "f", line), list[Suppression]()
    target = Stage().target()
    put_all(
        file,
        state_of(line),
        state_path(file),
        to=Target(
            publish=target.publish,
            suppress=given.extend,
            bucket=target.bucket,
            pressure=target.pressure,
        ),
        progress=Display(),
        now=NOW,
    )
    (found,) = given
    assert (found.cause, found.since.year) == ("bounced", 2025)


def test_every_kind_that_is_published_has_a_detail_type() -> None:
    assert DETAIL_TYPES.keys() == set(Kind) - {Kind.SUPPRESSION}
