"""Which ways lead to the HTTP API, in each state of the front.

Between neighbours, from `NO_FRONT` to `only`, either one way opens or closes, or the name of the
links changes from one open way to another. So a stage goes from one to the next, in either
direction, without a link that leads nowhere.
docs/decisions/0063-the-service-leads-the-name-of-links.md
"""

from infra.stage import Stage
from infra.stage.links import FRONTS

NO_FRONT = ""
"""The state of a stage without a front."""

STATES = (NO_FRONT, *FRONTS)

_READY, _OPEN, _ONLY = FRONTS


def state_of_front(stage: Stage) -> str:
    """One of `STATES`."""
    return stage.front if stage.front_rate_limit else NO_FRONT


def leads_to_front(stage: Stage) -> bool:
    """Whether `links_domain` leads to the front, not to the HTTP API."""
    return state_of_front(stage) in {_OPEN, _ONLY}


def answers_at_links_domain(stage: Stage) -> bool:
    """Whether the HTTP API answers whoever comes to it by the name `links_domain`."""
    return bool(stage.links_host) and state_of_front(stage) != _ONLY


def answers_at_own_address(stage: Stage) -> bool:
    """Whether the HTTP API answers at its own address, by which the front asks it."""
    return not stage.links_host or stage.api_address or bool(stage.front_rate_limit)
