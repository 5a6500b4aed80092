"""The policies in docs/cli name tables, queues, functions, logs, bucket and secret that exist."""

from gazette.settings.environment import LIVE

from gazette_cli.reference.permissions import IN_THE_CONSOLE, PERMISSIONS, arns
from tests.infra.synthesis import Synthesis


def test_every_resource_of_a_command_policy_is_deployed(
    asking: Synthesis, publishing: Synthesis
) -> None:
    """In a stage with a content source, or in one with events out."""
    deployed = resources_of(asking) | resources_of(publishing)
    named = {
        arn
        for grants in (*PERMISSIONS.values(), IN_THE_CONSOLE)
        for grant in grants
        if "*" not in grant[0].removesuffix("/index/*")
        for arn in arns(grant, "prod")
    }
    names = {each.split(":", 5)[5].removesuffix("/index/*") for each in named}
    for kind in (
        *("table/", "secret:", "function:", "log-group:"),
        *("gazette-prod-", "gazettedataprod-"),
    ):
        assert any(name.startswith(kind) for name in names), kind
    of_owner = {"secret:recommend-token-*"}  # the owner of a stage creates the token's secret
    assert of_owner <= names
    assert names - of_owner <= deployed


def resources_of(stage: Synthesis) -> set[str]:
    """The resources of a stage as the policies name them."""
    data, service = stage.data.of_type, stage.service.of_type
    buses = [
        bus
        for stack in (stage.data, stage.service)
        if stack.has("AWS::Events::EventBus")
        for bus in stack.of_type("AWS::Events::EventBus").values()
    ]
    return {
        *(f"event-bus/{each['Name']}" for each in buses),
        *(f"table/GazetteDataProd-{name}*" for name in data("AWS::DynamoDB::Table")),
        *(f"secret:{name}*" for name in data("AWS::SecretsManager::Secret")),
        *(f"gazettedataprod-{name.lower()}*" for name in data("AWS::S3::Bucket")),
        *(each["QueueName"] for each in service("AWS::SQS::Queue").values()),
        *(
            f"log-group:{each['LogGroupName']}:*"
            for each in service("AWS::Logs::LogGroup").values()
            if "LogGroupName" in each
        ),
        *(
            f"function:{each['FunctionName']}{qualifier}"
            for each in service("AWS::Lambda::Function").values()
            if "FunctionName" in each
            for qualifier in ("", f":{LIVE}")
        ),
    }
