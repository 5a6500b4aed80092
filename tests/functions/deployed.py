"""A function of a stage on moto: what the commands look up is its environment."""

import io
import zipfile

import boto3
from gazette.settings.environment import LIVE

from gazette_cdk.stacks.version import DeploymentLabel, gazette_version


def deploy(step: str, variables: dict[str, str], *layers: str) -> None:
    """`gazette-prod-<step>`, with the settings that the stack would write, and layers by ARN.

    The alias `live` points to a version; what the function itself is set to afterwards is not live.
    """
    role = boto3.client("iam").create_role(RoleName=step, AssumeRolePolicyDocument="{}")
    functions = boto3.client("lambda")
    functions.create_function(
        FunctionName=f"gazette-prod-{step}",
        Runtime="python3.13",
        Role=role["Role"]["Arn"],
        Handler="handler.lambda_handler",
        Code={"ZipFile": zipped("")},
        Environment={"Variables": variables},
        Layers=list(layers),
        Description=str(DeploymentLabel("c0ffee", gazette_version())),
    )
    version = functions.publish_version(FunctionName=f"gazette-prod-{step}")["Version"]
    functions.create_alias(FunctionName=f"gazette-prod-{step}", Name=LIVE, FunctionVersion=version)
    functions.update_function_configuration(
        FunctionName=f"gazette-prod-{step}", Environment={"Variables": {}}
    )


def publish_layer(name: str, content: bytes) -> str:
    """A version of a layer, an archive; its ARN."""
    published = boto3.client("lambda").publish_layer_version(
        LayerName=name, Content={"ZipFile": content}
    )
    return str(published["LayerVersionArn"])


def publish(deployment: str, *names: str) -> None:
    """Publish a version of each of these functions, which takes over its description."""
    functions = boto3.client("lambda")
    for name in (f"gazette-prod-{each}" for each in names):
        functions.update_function_configuration(
            FunctionName=name, Description=str(DeploymentLabel(deployment, gazette_version()))
        )
        functions.update_function_code(FunctionName=name, ZipFile=zipped(deployment))
        functions.publish_version(FunctionName=name)


def zipped(code: str) -> bytes:
    """A function's code."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        archive.writestr("handler.py", code)
    return into.getvalue()
