"""The settings of a stage's functions, from which the command learns names and defaults.

The names of tables and queues are made by CloudFormation; a function has them all, and with them
the settings that the same answer needs, such as the defaults. There is no second place to keep.
"""

from typing import TYPE_CHECKING, Annotated, TypeVar

import boto3
import typer
from gazette.settings.environment import LIVE, InvalidSetting, Settings

from cli.shared.aws_errors import refusals_in_words
from cli.shared.completion import known_stages
from cli.shared.console import NotPossible

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_lambda.type_defs import FunctionConfigurationResponseTypeDef

SettingsT = TypeVar("SettingsT", bound=Settings)

StageName = Annotated[
    str,
    typer.Option("--stage", help="The stage, as in cdk.json.", autocompletion=known_stages),
]


def environment(stage: str, step: str) -> dict[str, str]:
    """The environment of the function `gazette-<stage>-<step>`, as it works. Raises NotPossible.

    One GetFunctionConfiguration. Where Lambda may not decrypt the variables for the caller, it
    answers with an error in their place:
    https://docs.aws.amazon.com/lambda/latest/api/API_EnvironmentResponse.html
    """
    given = _configuration(stage, step).get("Environment", {})
    if refused := given.get("Error"):
        raise NotPossible(
            f"The settings of gazette-{stage}-{step} cannot be read "
            f"({refused.get('ErrorCode', 'no code')}): your credentials need kms:Decrypt on its "
            "key."
        )
    return given.get("Variables", {})


def layers(stage: str, step: str) -> list[str]:
    """The ARNs of the layers with which the function works, the smallest first.

    One GetFunctionConfiguration. Raises NotPossible.
    """
    found = _configuration(stage, step).get("Layers", [])
    return [each["Arn"] for each in sorted(found, key=lambda each: each.get("CodeSize", 0))]


def _configuration(stage: str, step: str) -> "FunctionConfigurationResponseTypeDef":
    """Of the version to which the alias `live` points, also after a rollback."""
    name = f"gazette-{stage}-{step}"
    with refusals_in_words(name, service="lambda"):
        client: LambdaClient = boto3.client("lambda")
        return client.get_function_configuration(FunctionName=name, Qualifier=LIVE)


def settings_of(stage: str, step: str, kind: type[SettingsT]) -> SettingsT:
    """The settings with which the function of a stage runs. Raises NotPossible."""
    variables = environment(stage, step)
    try:
        return kind.from_env(variables)
    except InvalidSetting as err:
        raise NotPossible(
            f"gazette-{stage}-{step} was deployed from another version than this command ({err}): "
            "use the command of that version, or deploy this one."
        ) from err
