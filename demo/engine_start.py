"""Starts the embedded engine, by its own interpreter, with a default bus that takes `aws.` sources.

PutEvents refuses a `source` that begins with `aws.`, on AWS as in the engine, and the engine has
no SES events of its own: so the stand-in for SES must be let in where SES itself is on AWS.
https://docs.aws.amazon.com/eventbridge/latest/ref/events-structure.html
"""

import importlib
import runpy


def main() -> None:
    """Runs until it is ended. Raises SystemExit where the engine is not the one that we know."""
    put_events = importlib.import_module("ministack.services.eventbridge")._put_events
    if put_events.__defaults__ != (False,):
        raise SystemExit("PutEvents of this engine has changed: see demo/engine_start.py")
    put_events.__defaults__ = (True,)  # allow_aws_source
    runpy.run_module("ministack", run_name="__main__")


if __name__ == "__main__":
    main()
