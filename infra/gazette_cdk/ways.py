"""The addresses that the HTTP API and the front serve in each state of the front.

Between neighbouring states, from `NO_FRONT` to `only`, one address opens or closes, or
`links_domain` moves between two open addresses. A stage can therefore move to a neighbouring state,
in either direction, without broken links.
docs/decisions/0063-the-service-leads-the-name-of-links.md
"""

from gazette_cdk.stage import Stage
from gazette_cdk.stage.links import FRONTS

NO_FRONT = ""
"""The state of a stage without a front."""

STATES = (NO_FRONT, *FRONTS)

_READY, _OPEN, _ONLY = FRONTS


def state_of_front(stage: Stage) -> str:
    """Return the state of the stage's front. The result is one of `STATES`."""
    return stage.front if stage.front_rate_limit else NO_FRONT


def leads_to_front(stage: Stage) -> bool:
    """Return True if `links_domain` points to the front instead of the HTTP API."""
    return state_of_front(stage) in {_OPEN, _ONLY}


def answers_at_links_domain(stage: Stage) -> bool:
    """Return True if the HTTP API serves requests for `links_domain`."""
    return bool(stage.links_host) and state_of_front(stage) != _ONLY


def answers_at_own_address(stage: Stage) -> bool:
    """Return True if the HTTP API serves requests at its own address, which is the origin of the
    front.
    """
    return not stage.links_host or stage.api_address or bool(stage.front_rate_limit)
