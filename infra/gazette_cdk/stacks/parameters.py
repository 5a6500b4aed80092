"""The SSM parameters through which apps in other languages find a stage."""

from collections.abc import Mapping

from aws_cdk import aws_ssm as ssm
from constructs import Construct

from gazette_cdk.stacks.version import gazette_version
from gazette_cdk.stage import Stage


class StageParameters(Construct):
    """The SSM parameters `/gazette/<stage>/<name>` of a stage, such as `bus-arn`.

    `values` has the value of each parameter except `version`, by its name. Other apps refer to a
    parameter instead of an export, because CloudFormation does not allow a change of an export that
    is in use. Standard parameters are free. docs/typescript-cdk.md,
    https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, values: Mapping[str, str]
    ) -> None:
        super().__init__(scope, construct_id)
        for name, value in {**values, "version": gazette_version()}.items():
            ssm.StringParameter(
                self,
                name.title().replace("-", ""),
                parameter_name=f"/gazette/{stage.name}/{name}",
                string_value=value,
            )
