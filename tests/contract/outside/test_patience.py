"""The attempts and time-outs of each adapter, whatever other adapters of its table a process has.

Against a server on loopback, which sees the requests as they are.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, permutations
from threading import Event as Flag
from threading import Thread
from typing import Any

import pytest
from botocore.client import BaseClient
from gazette.adapters.aws import clients
from gazette.adapters.aws.clients import Patience
from gazette.adapters.dynamodb.client import bind, read_rows
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.adapters.dynamodb.event_rows import stored_key
from gazette.adapters.dynamodb.events import DynamoEventReader, DynamoEvents
from gazette.adapters.dynamodb.feedback.statistics import DynamoEngagements
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.subscribers import DynamoReaders, DynamoSubscribers
from gazette.adapters.dynamodb.tables import FollowRow, SubscriberRow
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.model import DAILY
from gazette.domain.ports.stores import EventToStore, Guard

from gazette_support.adapters.sent_runs import DynamoSentRuns
from tests.builders import KEY, NOW, SettableClock, a_run, a_stored_event, a_window, an_event
from tests.credentials import set_credentials

DAYS = timedelta(days=35)
TIMEOUT = 0.375
WRITE = Patience(connect=0.125, read=0.25, attempts=1)
READ = Patience(connect=0.5, read=1.0, attempts=3)
LONG_READ = Patience(connect=0.5, read=5.0, attempts=3)

_CLOCK = SettableClock()
_STORED = a_stored_event(an_event(), DAILY, NOW)
_ITEM = {
    "user_id": {"S": "ann"},
    "event_id": {"S": "e1"},
    "stored": {"S": stored_key(DAILY, NOW)},
    "expires_at": {"N": "99999999999"},
}
_EMPTY = {"Items": [], "Count": 0, "ScannedCount": 0, "Attributes": {}, "Responses": {}}
_ERROR = json.dumps({"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError"})
_FAILED, _OK = 500, 200


@dataclass
class Service:
    """DynamoDB without rows that never responds to some operations and fails for others."""

    silent: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    found: Mapping[str, object] = field(default_factory=dict)
    requests: list[tuple[str, Any]] = field(default_factory=list)
    closed: Flag = field(default_factory=Flag)

    def answer(self, operation: str, body: bytes) -> tuple[int, str]:
        """Record a request and answer it."""
        self.requests.append((operation, json.loads(body)))
        if operation in self.silent:
            self.closed.wait(60)
        if operation in self.failing:
            return _FAILED, _ERROR
        return _OK, json.dumps({**_EMPTY, **self.found})

    @contextmanager
    def served(self) -> Iterator[str]:
        """Run the server while the block runs. Yield its address."""
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                operation = self.headers["X-Amz-Target"].rpartition(".")[2]
                status, body = service.answer(operation, request)
                with suppress(ConnectionError):  # the client has closed the connection
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                """Discard the log message."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            self.closed.set()
            server.shutdown()
            thread.join()
            server.server_close()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, socket_enabled: None) -> Iterator[Service]:
    set_credentials(monkeypatch)
    service = Service()
    with service.served() as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)  # between attempts
        yield service


Used = tuple[str, Patience]


@pytest.fixture
def used(service: Service, monkeypatch: pytest.MonkeyPatch) -> list[Used]:
    """The called operations, each with the patience of its client."""
    calls: list[Used] = []
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def noted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        config: Any = client.meta.config
        attempts = config.retries["total_max_attempts"]
        patience = Patience(config.connect_timeout, config.read_timeout, attempts)
        calls.append((operation, patience))
        return real(client, operation, request)

    monkeypatch.setattr(BaseClient, "_make_api_call", noted)
    return calls


def an_events_adapter() -> DynamoEvents:
    return DynamoEvents("events", retention=DAYS, timeout=TIMEOUT, clock=_CLOCK)


def use_events(adapter: DynamoEvents) -> None:
    adapter.store(an_event(), DAILY)
    adapter.get("ann", "e1")
    adapter.get_many("ann", ["e1"])
    list(adapter.stored_under("ann", DAILY, after=NOW))


def use_reader(adapter: DynamoEventReader) -> None:
    list(adapter.read("ann", DAILY, a_window()))
    list(adapter.skim("ann", DAILY, a_window()))
    adapter.load("ann", ["e1"])
    adapter.holds("ann", DAILY, after=NOW)
    list(adapter.of_user("ann"))


def use_deferred(adapter: DynamoDeferredEvents) -> None:
    adapter.defer(["e1"], a_run())
    adapter.exclude(an_event(), a_run(), "no template")
    adapter.expire([_STORED], a_run())


def use_runs(adapter: DynamoRuns) -> None:
    adapter.get(KEY)
    adapter.create(a_run())
    list(adapter.of_batch(NOW))
    adapter.swap_together([(a_run(), a_run())])


def use_sent_runs(adapter: DynamoSentRuns) -> None:
    adapter.sent_since(NOW, part=0, parts=1)


def use_subscribers(adapter: DynamoSubscribers) -> None:
    adapter.get("ann")
    adapter.mark_active("ann", NOW.date())


def use_readers(adapter: DynamoReaders) -> None:
    list(adapter.each())


@dataclass(frozen=True)
class Case:
    """An adapter, some of its calls, and the patience expected for each operation."""

    make: Callable[[], Any]
    use: Callable[[Any], None]
    expected: frozenset[Used]


def expecting(**patience: Sequence[str]) -> frozenset[Used]:
    known = {"write": WRITE, "read": READ, "long_read": LONG_READ}
    return frozenset((each, known[name]) for name, names in patience.items() for each in names)


CASES = {
    "events": Case(
        an_events_adapter,
        use_events,
        expecting(write=["PutItem"], read=["GetItem", "BatchGetItem", "Query"]),
    ),
    "event reader": Case(
        partial(DynamoEventReader, "events", clock=_CLOCK),
        use_reader,
        expecting(long_read=["BatchGetItem", "Query"]),
    ),
    "deferred events": Case(
        partial(DynamoDeferredEvents, "events", clock=_CLOCK),
        use_deferred,
        expecting(long_read=["TransactWriteItems"]),
    ),
    "runs": Case(
        partial(DynamoRuns, "runs", retention=DAYS),
        use_runs,
        expecting(read=["GetItem", "PutItem", "Query", "TransactWriteItems"]),
    ),
    "sent runs": Case(
        partial(DynamoSentRuns, "runs"), use_sent_runs, expecting(long_read=["Scan"])
    ),
    "subscribers": Case(
        partial(DynamoSubscribers, "subscribers"),
        use_subscribers,
        expecting(read=["GetItem", "UpdateItem"]),
    ),
    "readers": Case(
        partial(DynamoReaders, "subscribers"), use_readers, expecting(long_read=["Scan"])
    ),
}
TABLES = [
    ("events", "event reader", "deferred events"),
    ("runs", "sent runs"),
    ("subscribers", "readers"),
]


@pytest.mark.parametrize(
    "order", [order for names in TABLES for order in permutations(names)], ids=" then ".join
)
def test_adapters_of_a_table_keep_their_patience_in_any_order(
    order: Sequence[str], used: list[Used]
) -> None:
    adapters = {name: CASES[name].make() for name in order}
    for name, adapter in adapters.items():
        used.clear()
        CASES[name].use(adapter)
        assert set(used) == CASES[name].expected, name


def built_with_others(order: str) -> tuple[DynamoEvents, DynamoEventReader]:
    """Return the adapters of the table `events`, built in this order."""
    DynamoRuns("runs", retention=DAYS)
    if order == "events first":
        return an_events_adapter(), DynamoEventReader("events", clock=_CLOCK)
    reader = DynamoEventReader("events", clock=_CLOCK)
    return an_events_adapter(), reader


@pytest.mark.parametrize("order", [(10, 40), (40, 10)])
def test_adapters_of_a_table_keep_their_number_of_connections(
    order: Sequence[int], service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapters = [DynamoEngagements("engagement", retention=DAYS, connections=each) for each in order]
    used: list[int] = []

    def noted(client: BaseClient, *_: object) -> dict[str, Any]:
        config: Any = client.meta.config
        used.append(config.max_pool_connections)
        return _EMPTY

    monkeypatch.setattr(BaseClient, "_make_api_call", noted)
    for adapter in adapters:
        adapter.record(a_run(), EngagementEvent.OPENED, NOW)
    assert used == list(order)


orders = pytest.mark.parametrize("order", ["events first", "events last"])


@orders
def test_event_write_that_times_out_is_not_repeated_by_the_client(
    order: str, service: Service
) -> None:
    """Three requests with a time stamp each: the adapter makes them, and the client makes none."""
    events, _ = built_with_others(order)
    ticking = map(timedelta, count())
    events._clock = lambda: NOW + next(ticking)
    service.silent = frozenset({"PutItem"})
    with pytest.raises(Unavailable):
        events.store(an_event(), DAILY)
    assert [operation for operation, _ in service.requests] == ["PutItem"] * 3
    stamps = [body["Item"]["stored"]["S"] for _, body in service.requests]
    assert len(set(stamps)) == 3


WRITES: dict[str, tuple[str, Callable[[DynamoEvents], object]]] = {
    "store_together": (
        "TransactWriteItems",
        lambda events: events.store_together([EventToStore(an_event(), DAILY)]),
    ),
    "amend": ("UpdateItem", lambda events: events.amend(_STORED, an_event(excerpt="other"))),
    "move": ("UpdateItem", lambda events: events.move(_STORED, "weekly", Guard())),
    "guarded move": (
        "TransactWriteItems",
        lambda events: events.move(_STORED, "weekly", Guard(open_runs=(a_run(),))),
    ),
    "move_together": (
        "TransactWriteItems",
        lambda events: events.move_together([_STORED], "weekly", Guard()),
    ),
    "extend": ("UpdateItem", lambda events: events.extend(_STORED, NOW + DAYS)),
    "extend_together": (
        "TransactWriteItems",
        lambda events: events.extend_together([_STORED], NOW + DAYS),
    ),
    "remove": ("DeleteItem", lambda events: events.remove(_STORED, Guard())),
    "remove_together": (
        "TransactWriteItems",
        lambda events: events.remove_together([_STORED], Guard()),
    ),
    "retract": ("PutItem", lambda events: events.retract("ann", "e1", early=True)),
    "erase": ("BatchWriteItem", lambda events: events.erase("ann", None)),
}


@orders
@pytest.mark.parametrize("name", WRITES)
def test_each_write_of_an_event_is_a_single_request(
    order: str, name: str, service: Service
) -> None:
    operation, write = WRITES[name]
    service.found = {"Items": [_ITEM], "Count": 1, "ScannedCount": 1} if name == "erase" else {}
    events, _ = built_with_others(order)
    service.silent = frozenset({operation})
    with pytest.raises(Unavailable):
        write(events)
    assert [each for each, _ in service.requests].count(operation) == 1


READS: dict[str, tuple[str, Callable[[DynamoEvents, DynamoEventReader], object]]] = {
    "events get": ("GetItem", lambda events, _: events.get("ann", "e1")),
    "events get_many": ("BatchGetItem", lambda events, _: events.get_many("ann", ["e1"])),
    "events stored_under": (
        "Query",
        lambda events, _: list(events.stored_under("ann", DAILY, after=NOW)),
    ),
    "events erase": ("Query", lambda events, _: events.erase("ann", None)),
    "reader read": ("Query", lambda _, reader: list(reader.read("ann", DAILY, a_window()))),
    "reader load": ("BatchGetItem", lambda _, reader: reader.load("ann", ["e1"])),
}


@orders
@pytest.mark.parametrize("name", READS)
def test_failed_read_of_events_is_retried_by_the_client(
    order: str, name: str, service: Service
) -> None:
    operation, read = READS[name]
    adapters = built_with_others(order)
    service.failing = frozenset({operation})
    with pytest.raises(Unavailable):
        read(*adapters)
    assert [each for each, _ in service.requests] == [operation] * 3


@pytest.mark.usefixtures("service")
def test_process_uses_one_table_for_each_model() -> None:
    """An adapter that was built earlier would otherwise use the other table."""
    runs = DynamoRuns("runs", retention=DAYS)
    for make in (partial(DynamoRuns, retention=DAYS), DynamoSentRuns):
        with pytest.raises(ValueError, match="'runs', so it cannot be bound to 'other'"):
            make("other")
    assert runs.get(KEY) is None


def test_second_binding_does_not_replace_the_connection_of_the_first(service: Service) -> None:
    """Other threads may be using the connection, and a new connection has no client at first."""
    for patience in (READ, LONG_READ):
        model = bind(FollowRow, "follows", patience)
        connection = model._get_connection()
        assert bind(FollowRow, "follows", patience) is model
        assert model._get_connection() is connection
    clients.forget()
    DynamoFollows("follows", retention=DAYS, clock=_CLOCK)
    assert FollowRow._get_connection() is not connection


@pytest.mark.usefixtures("service")
def test_batch_reads_each_table_with_one_class() -> None:
    """The keys of one of the classes would otherwise be lost, as if there were no such rows."""
    model, variant = (bind(SubscriberRow, "subscribers", each) for each in (READ, LONG_READ))
    with pytest.raises(ValueError, match="two classes"):
        read_rows([(model, ("ann",)), (variant, ("bo",))])
