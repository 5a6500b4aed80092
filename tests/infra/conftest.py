"""Each stage is synthesised once, for all workers of the tests: it takes seconds."""

import fcntl
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.infra.synthesis import Synthesis, synthesise

Stages = Callable[..., Synthesis]


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Stages:
    """Synthesise a stage as `synthesise` does, or take what another worker made of it."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent

    def made(name: str, stage: str, *, bundled: bool, **changed: object) -> Synthesis:
        made_before = shared / f"{name}.pickle"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made_before.exists():
                synthesis = synthesise(stage, shared / name, bundled=bundled, **changed)
                made_before.write_bytes(pickle.dumps(synthesis))
            found = pickle.loads(made_before.read_bytes())  # noqa: S301 - written above
        assert isinstance(found, Synthesis)
        return found

    return made


SOURCES = {"subscriber.deleted": ["shop.accounts"]}
RUNBOOK = f"https://git.shop.example/{'x' * 175}"


@pytest.fixture(scope="session")
def varied(stages: Stages) -> Synthesis:
    """The stage prod with settings that each change a different part. Its layers are not built."""
    return stages(
        "varied",
        "prod",
        bundled=False,
        sources=SOURCES,
        ingest_window=7,
        feedback_window=0,
        evidence_grace=60,
        sandbox=False,
        sender="Shop <a+b@mail.gazette.dev>",
        runbook_url=RUNBOOK,
        restorable=["events", "category_stats"],
    )


@pytest.fixture(scope="session")
def bare(stages: Stages) -> Synthesis:
    """The stage prod without what it need not have, its layers not built."""
    return stages(
        "bare", "prod", bundled=False, dashboard=False, report_deliveries=False, restorable=[]
    )


@pytest.fixture(scope="session")
def prod(stages: Stages) -> Synthesis:
    """The stage prod, its layers not built."""
    return stages("prod", "prod", bundled=False)


@pytest.fixture(scope="session")
def local(stages: Stages) -> Synthesis:
    """The stage local, its layers built for this machine."""
    return stages("local", "local", bundled=True)


@pytest.fixture(scope="session")
def tracking(stages: Stages) -> Synthesis:
    """The stage prod with all that it may ask for, its layers not built."""
    return stages(
        "tracking",
        "prod",
        bundled=False,
        track_clicks=True,
        track_opens=True,
        feedback_by_sns=True,
        tls="require",
        tracking_domain="go.example.com",
        immediate_sender="Now <now@example.com>",
        digest_pool="digests",
        immediate_pool="at-once",
        requests_per_second=7,
        preferences_concurrency=11,
    )


_SMTP: Mapping[str, Any] = {
    "mail_provider": "smtp",
    "smtp_host": "mail.example.com",
    "emails_per_second": 5,
    "unknown_policy": "carry_over",
}


@pytest.fixture(scope="session")
def by_smtp(stages: Stages) -> Synthesis:
    """The stage prod, sending by SMTP, its layers not built."""
    return stages(
        "by_smtp",
        "prod",
        bundled=False,
        **_SMTP,
    )


@pytest.fixture(scope="session")
def reported(stages: Stages) -> Synthesis:
    """The stage prod, sending by SMTP, with two sources of delivery reports."""
    return stages(
        "reported",
        "prod",
        bundled=False,
        **_SMTP,
        sources={"delivery.reported": ["shop.mailgun", "shop.bounces"]},
    )


@pytest.fixture(scope="session")
def asking(stages: Stages) -> Synthesis:
    """The stage prod, whose digests ask a recommendation service, its layers not built."""
    return stages(
        "asking",
        "prod",
        bundled=False,
        content_sources=["events", "recommendations"],
        recommendations_url="https://recommend.example.com/v1/items",
        recommendations_secret="recommend-token",
        concurrency={"content": 7},
    )


EVERY = ["subscriber.left", "preferences.changed", "email.sent", "email.delivered", "address"]
"""A type of event from each table, and the address."""


@pytest.fixture(scope="session")
def publishing(stages: Stages) -> Synthesis:
    """The stage prod with events out from every table, its layers not built."""
    return stages("publishing", "prod", bundled=False, events_out=EVERY)


@pytest.fixture(scope="session")
def serving(stages: Stages) -> Synthesis:
    """The stage prod with the API for services, its layers not built."""
    return stages("serving", "prod", bundled=False, services_api={"requests_per_second": 20})


@pytest.fixture(scope="session")
def complete(stages: Stages) -> Synthesis:
    """The stage prod with every function that a stage may have, its layers not built."""
    return stages(
        "complete",
        "prod",
        bundled=False,
        events_out=EVERY,
        content_sources=["events", "recommendations"],
        recommendations_url="https://recommend.example.com/v1/items",
        services_api={"requests_per_second": 20, "return": True},
    )


@pytest.fixture(scope="session")
def guarded(stages: Stages) -> Synthesis:
    """The stage prod with everything that guards it, its layers not built."""
    return stages(
        "guarded",
        "prod",
        bundled=False,
        account="123456789012",
        region="eu-central-1",
        tags={"cost-center": "4711"},
        archive_days=7,
    )


@pytest.fixture(scope="session")
def fronted(stages: Stages) -> Synthesis:
    """The stage prod with a front, which by default is all that its links lead to. No layers."""
    return stages(
        "front_only",
        "prod",
        bundled=False,
        region="eu-central-1",
        links_domain="links.gazette.dev",
        hosted_zone={"id": "Z0123", "name": "gazette.dev"},
        front_rate_limit=2000,
    )
