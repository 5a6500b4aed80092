"""Small questions to the simulator."""

from datetime import date, timedelta
from typing import Any

from gazette.domain.delivery.pace import PacePlan

from gazette_cdk.concurrency import Load, sizes
from gazette_cli.simulate.engine.service import ServicePlan
from gazette_cli.simulate.inputs import Account, Installation, Question, Traffic

BERLIN = {"Europe/Berlin": 1.0}


def installation(rate: float = 14, **changed: Any) -> Installation:
    """A stage with the default settings, sized for this rate."""
    load = Load(
        emails_per_second=rate, immediate_share=20, shards=4, reports=2, requests_per_second=10
    )
    given: dict[str, Any] = {
        "plan": PacePlan(rate=rate),
        "immediate_share": 20,
        "shards": 4,
        "spread": timedelta(minutes=10),
        "max_lateness": timedelta(hours=6),
        "collapse": timedelta(seconds=20),
        "hold": timedelta(seconds=20),
        "worth": None,
        "sizes": sizes(load),
    }
    return Installation(**given | changed)


def question(
    readers: int,
    *,
    quota: float = 100,
    daily: int | None = None,
    of: Installation | None = None,
    service: ServicePlan | None = None,
    seed: int = 1,
    days: int = 1,
    **traffic: Any,
) -> Question:
    """Readers in Berlin, unless `zones` says otherwise."""
    return Question(
        traffic=Traffic(readers=readers, **{"zones": BERLIN, **traffic}),
        account=Account(rate=quota, daily=daily),
        installation=of or installation(),
        begin=date(2026, 11, 24),
        days=days,
        service=service,
        seed=seed,
    )
