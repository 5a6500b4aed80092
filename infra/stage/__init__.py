"""The settings of a stage, which is one installation of Gazette."""

from infra.stage.owner import NOTHING
from infra.stage.stage import Stage, Stream

__all__ = ["NOTHING", "Stage", "Stream"]
