"""The producer module that services copy, loaded from Gazette's own folder."""

import importlib.util
import sys
from types import ModuleType

from gazette_cdk.folders import GAZETTE

_NAME = "gazette_events"


def producer_module() -> ModuleType:
    """Return `producer/gazette_events.py` as a module, so that commands publish as services do."""
    if _NAME in sys.modules:
        return sys.modules[_NAME]
    path = GAZETTE / "producer" / f"{_NAME}.py"
    spec = importlib.util.spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module
