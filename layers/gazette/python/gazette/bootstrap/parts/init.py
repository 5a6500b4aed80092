"""Initialization of a function while Lambda starts its process, before the first message."""

import os
from collections.abc import Callable

from gazette.observability import logger

_STARTED_BY_LAMBDA = "AWS_LAMBDA_INITIALIZATION_TYPE"
"""An environment variable that is set if Lambda started this process:
https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html"""


def during_init(*builds: Callable[[], object]) -> None:
    """Build the objects that a handler uses if Lambda is starting this process.

    This call is the last line of each handler, and the only code that runs at import. During the
    init phase, Lambda gives a process more CPU than the function's memory setting provides.
    https://awslabs.github.io/aws-lambda-web-adapter/configuration/async-init.html

    A failure is logged, and the first message builds the objects again and reports the failure. If
    the error were raised here, Lambda would restart the process repeatedly, and messages would
    return to the queue without a reason.
    https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
    """
    if _STARTED_BY_LAMBDA not in os.environ:
        return
    try:
        for build in builds:
            build()
    except Exception:  # noqa: BLE001 -- whatever the error, the first message raises it again
        logger().exception("not built during init")
