"""Check whether the stage was deployed after the push of a version in force."""

from collections.abc import Iterator, Sequence
from functools import partial

from gazette.domain.errors import UnreadableRow
from gazette.domain.templates.versions import InForce, PushedVersion

from gazette_cli.doctor.findings import Finding, Unseen, ok, unseen, warning
from gazette_cli.doctor.questions import asked
from gazette_cli.shared.deployed import layers
from gazette_cli.templates.listing import deployed_since
from gazette_cli.templates.stage import in_words_of
from gazette_support.steps.templates import TemplatesContext, versions_in

_CHECK = "templates and deployment"
_PAGE = "docs/templates.md"


def check_deployment(stage: str, context: TemplatesContext) -> Iterator[Finding]:
    """Warn if the stage was deployed after the push of a version in force."""
    try:
        answer = asked("dynamodb:GetItem on the control table", partial(_in_force, context))
    except UnreadableRow:
        return  # `check_templates` reports this problem
    if not isinstance(answer, tuple):
        yield unseen(_CHECK, answer or Unseen("the `control` table does not exist"))
        return
    in_force, pushed = answer
    if not pushed:
        return
    if todo := deployed_since(in_force, pushed, layers(stage, "generate")):
        yield warning(_CHECK, in_words_of(in_force), todo, _PAGE)
    else:
        yield ok(_CHECK, in_words_of(in_force))


def _in_force(context: TemplatesContext) -> tuple[InForce, Sequence[PushedVersion]]:
    in_force = context.versions.in_force()
    return in_force, versions_in(in_force, versions=context.versions)
