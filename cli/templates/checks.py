"""Whether workers can read the versions of the templates that are in force."""

from collections.abc import Iterator, Sequence
from functools import partial

from gazette.adapters.templates.bundle import BundleError, checksum_of, unpack
from gazette.bootstrap.support.templates import build_templates
from gazette.domain.errors import UnreadableRow
from gazette.domain.templates.versions import InForce, PushedVersion, Version
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.templates import TemplatesContext, versions_in

from cli.doctor.findings import Finding, Unseen, ok, problem, unseen, warning
from cli.doctor.questions import asked
from cli.shared.deployed import layers
from cli.templates.listing import deployed_since
from cli.templates.stage import in_words_of

_CHECK = "templates"
_PAGE = "docs/runbook/bad-template.md"
_UNREADABLE = "docs/runbook/rows-unreadable.md"


def check_templates(stage: str, settings: GenerateSettings) -> Iterator[Finding]:
    """What is in force, then whether the bundle of each version is there and whole."""
    context = build_templates(settings)
    try:
        found = asked("dynamodb:GetItem on the table control", partial(_in_force, context))
    except UnreadableRow as err:
        todo = "Repair the row: until then workers go by what they have read before."
        yield problem(_CHECK, str(err), todo, _UNREADABLE)
        return
    if not isinstance(found, tuple):
        yield unseen(_CHECK, found or Unseen("there is no table `control`"))
        return
    in_force, pushed = found
    seen = in_words_of(in_force)
    if todo := deployed_since(in_force, pushed, layers(stage, "generate")):
        yield warning(_CHECK, seen, todo, _PAGE)
    else:
        yield ok(_CHECK, seen)
    for each in pushed:
        yield _bundle(each.version, context)


def _in_force(context: TemplatesContext) -> tuple[InForce, Sequence[PushedVersion]]:
    in_force = context.versions.in_force()
    return in_force, versions_in(in_force, versions=context.versions)


def _bundle(version: Version, context: TemplatesContext) -> Finding:
    check = f"{_CHECK} {version.number}"
    content = asked("s3:GetObject", partial(context.bundles.get, version))
    if isinstance(content, Unseen):
        return unseen(check, content)
    wrong = _wrong_with(content, version)
    if wrong:
        todo = "`gazette templates rollback` goes back; a push of the same folder stores it again."
        return problem(check, wrong, todo, _PAGE)
    return ok(check, "its bundle is whole")


def _wrong_with(content: bytes | None, version: Version) -> str:
    """Why workers cannot use it, and keep what they have; empty if they can."""
    if content is None:
        return "its bundle is not stored any more"
    if checksum_of(content) != version.checksum:
        return "its bundle is damaged: the checksum differs"
    try:
        unpack(content)
    except BundleError as err:
        return f"its bundle cannot be read: {err}"
    return ""
