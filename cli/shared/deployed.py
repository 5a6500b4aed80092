"""The settings of a stage's deployed functions.

CloudFormation generates the names of tables. Each function has the names that it needs in its
environment, together with the other settings of the stage. Commands read them there, so that they
need no configuration of their own.
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
    typer.Option("--stage", help="The name of the stage in cdk.json.", autocompletion=known_stages),
]


def environment(stage: str, step: str) -> dict[str, str]:
    """Return the environment of the live function `gazette-<stage>-<step>`.

    One GetFunctionConfiguration. Raises NotPossible. If the caller may not decrypt the variables,
    Lambda returns an error instead:
    https://docs.aws.amazon.com/lambda/latest/api/API_EnvironmentResponse.html
    """
    response = _configuration(stage, step).get("Environment", {})
    if error := response.get("Error"):
        raise NotPossible(
            f"The settings of gazette-{stage}-{step} are unreadable "
            f"({error.get('ErrorCode', 'no code')}). Your credentials need kms:Decrypt on its "
            "key."
        )
    return response.get("Variables", {})


def layers(stage: str, step: str) -> list[str]:
    """Return the ARNs of the live function's layers, the smallest first.

    One GetFunctionConfiguration. Raises NotPossible.
    """
    layers = _configuration(stage, step).get("Layers", [])
    return [each["Arn"] for each in sorted(layers, key=lambda each: each.get("CodeSize", 0))]


def _configuration(stage: str, step: str) -> "FunctionConfigurationResponseTypeDef":
    """Return the configuration of the version behind the alias `live`, also after a rollback."""
    name = f"gazette-{stage}-{step}"
    with refusals_in_words(name, service="lambda"):
        client: LambdaClient = boto3.client("lambda")
        return client.get_function_configuration(FunctionName=name, Qualifier=LIVE)


def settings_of(stage: str, step: str, kind: type[SettingsT]) -> SettingsT:
    """Return the settings of a deployed function. Raises NotPossible."""
    variables = environment(stage, step)
    try:
        return kind.from_env(variables)
    except InvalidSetting as err:
        raise NotPossible(
            f"gazette-{stage}-{step} was deployed from a different version than this command "
            f"({err}). Use the command of that version, or deploy this version."
        ) from err
