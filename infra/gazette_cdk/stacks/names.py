"""The names of the stacks of a stage, which commands and their permissions contain."""

PREFIX = "Gazette"
"""The beginning of the names, if the app does not specify another."""


def data_stack(stage: str, prefix: str = PREFIX) -> str:
    """Return the name of the stack with the tables, such as `GazetteDataProd`."""
    return f"{prefix}Data{stage.capitalize()}"


def service_stack(stage: str, prefix: str = PREFIX) -> str:
    """Return the name of the stack with the functions, such as `GazetteProd`."""
    return f"{prefix}{stage.capitalize()}"


def front_stack(stage: str, prefix: str = PREFIX) -> str:
    """Return the name of the stack in us-east-1, such as `GazetteFrontProd`."""
    return f"{prefix}Front{stage.capitalize()}"
