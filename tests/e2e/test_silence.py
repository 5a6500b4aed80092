"""Silence is an alarm: what the deployed functions write, judged by the template's own alarms."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from gazette.domain.scheduling.calendar import slot_of

from demo.written import Value, written
from tests.infra.alarm_states import Recorded, state
from tests.infra.synthesis import Properties, synthesise
from tests.stage import Deployed

_SOON = timedelta(seconds=20)


@pytest.fixture(scope="module")
def heartbeats(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Properties]:
    """By their metric, the alarms on silence that the deployed stage would have with a clock."""
    folder = tmp_path_factory.mktemp("clock")
    built = synthesise("local", folder, bundled=False, ticks=True)
    return {
        alarm["MetricName"]: alarm
        for alarm in built.service.of_type("AWS::CloudWatch::Alarm").values()
        if alarm.get("MetricName") in {"shards_done", "partitions_swept"}
    }


class Clock:
    """Strikes fan-out and the sweep as the schedules of the template do, but waits for nobody.

    What the functions write is recorded at the minute of the strike. The minutes are of hours that
    have passed, in which nothing is due.
    """

    def __init__(self, deployed: Deployed) -> None:
        self._deployed = deployed
        self._now = slot_of(datetime.now(UTC)) - timedelta(hours=5)
        self._recorded = Recorded()
        self._heard = Counter(written(deployed.service, "fanout", "sweep"))

    def run(self, *, minutes: int, fanout: bool = True, sweep: bool = True) -> None:
        """Let time pass, in which the clock strikes what is not stopped."""
        for _ in range(minutes):
            if fanout and self._now.minute % 10 == 0:
                self._strike("fanout")
                self._deployed.service.wait_until_drained("shard", within=60)
                self._hear()
            if sweep and self._now.minute % 5 == 3:
                self._strike("sweep")
                self._deployed.service.wait_until_drained("sweep", within=60)
                self._hear()
            self._now += timedelta(minutes=1)

    def strike_alone(self, *, times: int) -> None:
        """Strike fan-out every ten minutes, whatever becomes of it."""
        for _ in range(times):
            self._strike("fanout")
            self._hear()
            self._now += timedelta(minutes=10)

    def states(self, heartbeats: dict[str, Properties]) -> dict[str, str]:
        """The state of each alarm now, by its metric."""
        return {
            metric: state(
                alarm,
                self._recorded.series(
                    metric, statistic=alarm["Statistic"], period=alarm["Period"], until=self._now
                ),
            )
            for metric, alarm in heartbeats.items()
        }

    def count(self, metric: str) -> int:
        """How often a metric was written."""
        return len(self._recorded.values.get(metric, ()))

    def _strike(self, step: str) -> None:
        self._deployed.service.functions.invoke(
            FunctionName=f"gazette-local-{step}",
            Payload=json.dumps({"time": self._now.isoformat()}),
        )

    def _hear(self) -> None:
        found = Counter[Value](written(self._deployed.service, "fanout", "sweep"))
        for each in (found - self._heard).elements():
            self._recorded.add(each.name, each.value, self._now + _SOON)
        self._heard = found


RUNS = {"shards_done": "OK", "partitions_swept": "OK"}


def test_stopped_clock_raises_both_alarms_and_a_tick_ends_them(
    deployed: Deployed, heartbeats: dict[str, Properties]
) -> None:
    """As if the schedules were disabled, or their role were gone."""
    clock = Clock(deployed)
    clock.run(minutes=30)
    assert clock.states(heartbeats) == RUNS
    clock.run(minutes=40, fanout=False, sweep=False)
    assert clock.states(heartbeats) == {"shards_done": "ALARM", "partitions_swept": "ALARM"}
    clock.run(minutes=20)
    assert clock.states(heartbeats) == RUNS


def test_failing_fan_out_raises_the_silence_alarm(
    deployed: Deployed, heartbeats: dict[str, Properties]
) -> None:
    clock = Clock(deployed)
    clock.run(minutes=20)
    with broken(deployed, "fanout"):
        clock.strike_alone(times=4)
    assert clock.count("ticks_done") == 2
    assert clock.states(heartbeats)["shards_done"] == "ALARM"


def test_unprocessed_shards_raise_the_silence_alarm(
    deployed: Deployed, heartbeats: dict[str, Properties]
) -> None:
    clock = Clock(deployed)
    clock.run(minutes=20)
    with stuck(deployed, "shard"):
        clock.strike_alone(times=4)
        assert clock.states(heartbeats)["shards_done"] == "ALARM"
    assert clock.count("ticks_done") == 6
    deployed.service.wait_until_drained("shard")


@contextmanager
def broken(deployed: Deployed, step: str) -> Iterator[None]:
    """The function cannot begin: a setting is gone."""
    name, functions = f"gazette-local-{step}", deployed.service.functions
    before = deployed.service.settings(step)
    less = {key: value for key, value in before.items() if key != "GAZETTE_CONTROL_TABLE"}
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": less})
    try:
        yield
    finally:
        functions.update_function_configuration(
            FunctionName=name, Environment={"Variables": before}
        )


@contextmanager
def stuck(deployed: Deployed, queue: str) -> Iterator[None]:
    """The event source mapping of the queue is disabled."""
    functions = deployed.service.functions
    (mapping,) = functions.list_event_source_mappings(
        EventSourceArn=deployed.service.queue_arn(queue)
    )["EventSourceMappings"]
    functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    try:
        yield
    finally:
        functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=True)
