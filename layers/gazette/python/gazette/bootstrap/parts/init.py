"""Building a function while Lambda starts its process, before the first message."""

import os
from collections.abc import Callable

from gazette.observability import logger

_STARTED_BY_LAMBDA = "AWS_LAMBDA_INITIALIZATION_TYPE"
"""https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html"""


def during_init(*builds: Callable[[], object]) -> None:
    """Build what a handler uses, if Lambda starts this process; anywhere else do nothing.

    It is the last line of each handler, and all that happens at import. In its init phase Lambda
    gives a process more CPU than the function's memory pays for.
    https://awslabs.github.io/aws-lambda-web-adapter/configuration/async-init.html

    A failure is logged. The first message then builds again, and fails by itself: a process that
    failed to start would be started again and again, and no message would say why it came back.
    https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
    """
    if _STARTED_BY_LAMBDA not in os.environ:
        return
    try:
        for build in builds:
            build()
    except Exception:  # noqa: BLE001 -- whatever it was, the first message meets it again
        logger().exception("not built during init")
