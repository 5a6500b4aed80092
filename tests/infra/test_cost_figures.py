"""What `gazette cost` assumes of a stage is what is deployed, and so is what docs say of sizes."""

import re
from pathlib import Path

import pytest

from gazette_cdk.stage import Stage
from gazette_cdk.topology import API, API_WRITES, CONTENT, OUTBOX, STEPS, SUPPORT
from gazette_cli.cost.assumptions import ALARMS, MEMORY, QUEUES, SECRETS, SHARDS, SWEEPS, TICKS
from gazette_cli.cost.command import digests_of
from gazette_cli.cost.page import MILLION
from tests.infra.synthesis import Synthesis


def test_billed_memory_matches_the_functions() -> None:
    defaults = Stage(name="some", sender="a@example.com", list_id="example.com")
    steps = map(defaults.sized, (*STEPS, CONTENT, OUTBOX, API, API_WRITES, SUPPORT))
    memory = {step.name: step.memory for step in steps}
    assert {name: memory[name] for name in MEMORY} == MEMORY


def test_billed_queues_secrets_and_alarms_match_the_stack(prod: Synthesis) -> None:
    assert len(prod.service.of_type("AWS::Lambda::EventSourceMapping")) == QUEUES
    assert len(prod.data.of_type("AWS::SecretsManager::Secret")) == SECRETS
    metrics = [
        max(1, sum("MetricStat" in each for each in alarm.get("Metrics", ())))
        for alarm in prod.service.of_type("AWS::CloudWatch::Alarm").values()
    ]
    assert sum(metrics) == ALARMS
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    assert f"{ALARMS} metrics of {len(metrics)} alarms" in page


def test_billed_shards_and_ticks_match_the_defaults() -> None:
    defaults = Stage(name="some", sender="a@example.com", list_id="example.com")
    assert defaults.shards == SHARDS
    assert (TICKS, SWEEPS) == (24 * 60 // 10, 24 * 60 // 5)


def test_documented_costs_use_the_default_batch_sizes() -> None:
    defaults = Stage(name="some", sender="a@example.com", list_id="example.com")
    assert digests_of(defaults) == MILLION.digests_sent


@pytest.mark.parametrize("rate", [10, 50, 500])
def test_smtp_connection_count_matches_the_documentation(rate: int) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sending.md").read_text()
    stage = Stage(
        name="some",
        sender="a@example.com",
        list_id="example.com",
        mail_provider="smtp",
        emails_per_second=rate,
    )
    sizes = [stage.sizes[name].concurrency for name in ("generate", "immediate", "resend")]
    row = re.search(rf"^\| {rate} \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert row
    assert [int(each) for each in row.groups()] == sizes
