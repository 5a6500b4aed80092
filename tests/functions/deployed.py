"""A function of a stage on moto: what the commands look up is its environment."""

import io
import zipfile

import boto3


def deploy(step: str, variables: dict[str, str]) -> None:
    """`gazette-prod-<step>`, with the settings that the stack would write."""
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("handler.py", "")
    role = boto3.client("iam").create_role(RoleName=step, AssumeRolePolicyDocument="{}")
    boto3.client("lambda").create_function(
        FunctionName=f"gazette-prod-{step}",
        Runtime="python3.13",
        Role=role["Role"]["Arn"],
        Handler="handler.lambda_handler",
        Code={"ZipFile": code.getvalue()},
        Environment={"Variables": variables},
    )
