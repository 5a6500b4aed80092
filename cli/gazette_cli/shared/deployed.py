"""The settings of a stage, read from its deployed functions.

CloudFormation generates the names of tables. The environment of each function contains the names
that it uses, and other settings of the stage. Commands read this environment, so they need no
configuration of their own.
"""

from typing import TYPE_CHECKING, Annotated, TypeVar

import boto3
import typer
from gazette.settings.environment import LIVE, InvalidSetting, Settings

from gazette_cdk.stacks.version import DeploymentLabel
from gazette_cli.shared.aws_errors import refusals_in_words
from gazette_cli.shared.completion import known_stages
from gazette_cli.shared.console import NotPossible

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_lambda.type_defs import FunctionConfigurationResponseTypeDef

SettingsT = TypeVar("SettingsT", bound=Settings)

StageName = Annotated[
    str,
    typer.Option("--stage", help="The name of the stage.", autocompletion=known_stages),
]

LATER_SETTINGS = {
    "GAZETTE_ALLOWED_RECIPIENTS": "[]",
    "GAZETTE_DIGEST_WORTH": "{}",
    "GAZETTE_QUIET_HOURS": "",
    "GAZETTE_IMMEDIATE_LIMIT": "{}",
}
"""The environment variables that functions of the last release lack, with the values that describe
those functions.

Commands use them after an upgrade of this command, until the deployment, and after a rollback.
"""


def environment(stage: str, step: str) -> dict[str, str]:
    """Return the environment of the live function `gazette-<stage>-<step>`.

    Makes one GetFunctionConfiguration call. Raises NotPossible. If the caller may not decrypt the
    variables, Lambda returns an error instead of the variables:
    https://docs.aws.amazon.com/lambda/latest/api/API_EnvironmentResponse.html
    """
    response = _configuration(stage, step).get("Environment", {})
    if error := response.get("Error"):
        raise NotPossible(
            f"The settings of gazette-{stage}-{step} are unreadable "
            f"({error.get('ErrorCode', 'no code')}). Your credentials need kms:Decrypt on the "
            "KMS key of the function."
        )
    return response.get("Variables", {})


def deployment_of(stage: str, step: str) -> DeploymentLabel | None:
    """Return the deployment of the live function, also after a rollback.

    Return None if the description of the function does not name one. Makes one
    GetFunctionConfiguration call. Raises NotPossible.
    """
    return DeploymentLabel.read(_configuration(stage, step).get("Description", ""))


def layers(stage: str, step: str) -> list[str]:
    """Return the ARNs of the layers of the live function, the smallest layer first.

    One GetFunctionConfiguration. Raises NotPossible.
    """
    layers = _configuration(stage, step).get("Layers", [])
    return [each["Arn"] for each in sorted(layers, key=lambda each: each.get("CodeSize", 0))]


def is_in_vpc(stage: str, step: str) -> bool:
    """Return True if the live function is connected to a VPC.

    One GetFunctionConfiguration. Raises NotPossible.
    """
    return bool(_configuration(stage, step).get("VpcConfig", {}).get("VpcId"))


def _configuration(stage: str, step: str) -> "FunctionConfigurationResponseTypeDef":
    """Return the configuration of the version that the `live` alias points to, even after a
    rollback.
    """
    name = f"gazette-{stage}-{step}"
    with refusals_in_words(name, service="lambda"):
        client: LambdaClient = boto3.client("lambda")
        return client.get_function_configuration(FunctionName=name, Qualifier=LIVE)


def settings_of(stage: str, step: str, kind: type[SettingsT]) -> SettingsT:
    """Return the settings of a function of this version or of the last release.

    Raises NotPossible.
    """
    variables = LATER_SETTINGS | environment(stage, step)
    try:
        return kind.from_env(variables)
    except InvalidSetting as err:
        raise NotPossible(
            f"gazette-{stage}-{step} was deployed from a different version than this command "
            f"({err}). Use the command of that version, or deploy this version."
        ) from err
