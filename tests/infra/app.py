"""An app of an adopter, and the settings that every stage needs."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk

SETTINGS: Mapping[str, object] = {
    "sender": "Shop <digest@shop.dev>",
    "list_id": "digest.shop.dev",
    "alarm_email": "team@shop.dev",
    "links_domain": "none",
}
Resources = dict[str, dict[str, Any]]


def new_app() -> cdk.App:
    """An app that does not build the layers."""
    return cdk.App(
        context={"aws:cdk:bundling-stacks": []}, builtin_cloud_formation_validation=False
    )
