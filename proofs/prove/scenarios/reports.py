"""Scenarios of delivery events of other emails, bounces and complaints."""

from collections.abc import Iterator
from dataclasses import replace

from gazette.domain.delivery.signals import Policy

from proofs.prove.acts import (
    at,
    complain,
    during,
    event_about_first,
    event_of_unknown_attempt,
    put,
    share_address,
)
from proofs.prove.life import Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import Scenario
from proofs.prove.strikes import How
from tests.builders import a_bounce, a_complaint

_LOST = Answer.LOST


def _of_others() -> Iterator[Scenario[Life]]:
    """Yield scenarios with reports on emails of other tables and by other readers."""
    for policy in Policy:
        yield Scenario(
            name=f"restored/{policy}",
            policy=policy,
            acts=(
                at(event_of_unknown_attempt(2), hours=2),
                at(event_of_unknown_attempt(1, attempt=2), hours=3),
                at(put("e3"), hours=20),
                at(event_of_unknown_attempt(2, attempt=7), hours=24, minutes=1),
                at(event_of_unknown_attempt(3), hours=25),
            ),
            days=3,
            hows=(How.KILLED_AFTER, How.UNANSWERED),
        )
    yield Scenario(
        name="one address/complaint",
        readers=("ann", "bo"),
        events=("e1",),
        acts=(at(share_address(), hours=-20),),
        meanwhile=during(complain),
        hows=(),
    )


def _faults() -> Iterator[Scenario[Life]]:
    """Yield scenarios with bounces and complaints, which stop email to the reader.

    A report without a recipient stops no reader, but still proves that the email arrived.
    """
    kinds = {
        "bounce": a_bounce(),
        "complaint": a_complaint(),
        "complaint without a recipient": replace(
            a_complaint(), fault=None, flaw="it names no recipient"
        ),
    }
    for policy in Policy:
        for kind, event in kinds.items():
            yield Scenario(
                name=f"fault/{kind}/{policy}",
                policy=policy,
                answers=(_LOST,),
                evidence=Evidence.NEVER if event.flaw else Evidence.SOON,
                acts=(
                    at(event_about_first(event), minutes=3),
                    at(put("e3", in_vain=True), hours=20),
                ),
                days=2,
            )


SCENARIOS = (
    *_of_others(),
    *_faults(),
)
