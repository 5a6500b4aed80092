"""Dependencies of `gazette templates`, and of commands that show emails with a pushed version."""

from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.adapters.templates.s3 import S3Bundles
from gazette.bootstrap.parts.clock import now
from gazette.settings.delivery import SendingSettings
from gazette.settings.ranges import RANGES

from gazette_support.steps.templates import TemplatesContext


def build_templates(settings: SendingSettings) -> TemplatesContext:
    """Return a stage's template versions and their bundles, from the settings of generate."""
    return TemplatesContext(
        versions=DynamoTemplateVersions(settings.control_table, ranges=RANGES),
        bundles=S3Bundles(settings.templates_bucket),
        clock=now,
    )
