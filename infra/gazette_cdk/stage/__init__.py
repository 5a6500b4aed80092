"""The settings of a stage, which is one installation of Gazette."""

from gazette_cdk.stage.owner import NOTHING
from gazette_cdk.stage.stage import Stage, Stream

__all__ = ["NOTHING", "Stage", "Stream"]
