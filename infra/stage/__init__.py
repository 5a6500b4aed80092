"""A stage, which is one installation, and its settings."""

from infra.stage.owner import NOTHING
from infra.stage.stage import Stage, Stream

__all__ = ["NOTHING", "Stage", "Stream"]
