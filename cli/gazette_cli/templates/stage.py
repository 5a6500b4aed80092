"""The versions of a stage's templates, and their files."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import ClientError
from gazette.adapters.templates.bundle import BundleError, checksum_of, unpack
from gazette.domain.errors import Overtaken, Unavailable, UnreadableRow
from gazette.domain.templates.versions import DEPLOYED, InForce, Version
from gazette.settings.delivery import GenerateSettings

from gazette_cli.shared.aws_errors import in_words, of_aws, refusals_of_tables
from gazette_cli.shared.console import NotPossible, printable
from gazette_cli.shared.deployed import settings_of
from gazette_cli.templates.deployed import read_layer
from gazette_cli.templates.differences import Files
from gazette_support.bootstrap.templates import build_templates
from gazette_support.domain.templates.changes import InvalidRollout
from gazette_support.steps.templates import TemplatesContext, version_by_number

_OF_S3 = {"GetObject", "PutObject"}


@contextmanager
def refusals(stage: str) -> Iterator[None]:
    """Convert errors about the versions of a stage to NotPossible."""
    with refusals_of_tables(stage):
        try:
            yield
        except InvalidRollout as err:
            raise NotPossible(printable(_sentence(err))) from err
        except (Overtaken, UnreadableRow) as err:
            raise NotPossible(printable(str(err))) from err
        except Unavailable as err:
            cause = of_aws(err)
            if isinstance(cause, ClientError) and cause.operation_name in _OF_S3:
                message = in_words(cause, f"the templates of stage {stage}", "s3")
                raise NotPossible(printable(message)) from err
            raise


def versions_of(stage: str) -> TemplatesContext:
    """Open the versions of a stage. Raises NotPossible."""
    return build_templates(settings_of(stage, "generate", GenerateSettings))


def number_of(given: str) -> int:
    """Parse the number of a version, such as `7`, or `deployed` for 0. Raises NotPossible."""
    if given == "deployed":
        return DEPLOYED.number
    if not given.isascii() or not given.isdigit():
        raise NotPossible(
            f"{printable(given)!r} is not a version. Specify a number, such as 7, or `deployed`."
        )
    return int(given)


def version_of(given: str, context: TemplatesContext) -> Version:
    """Return the version with a number or name. Raises NotPossible and InvalidRollout."""
    return version_by_number(number_of(given), versions=context.versions)


def files_of(version: Version, context: TemplatesContext, stage: str) -> Files:
    """Return the files of a version, from its bundle or the layer. Raises NotPossible."""
    if version.is_deployed:
        return read_layer(stage).templates
    content = context.bundles.get(version)
    if content is None:
        raise NotPossible(f"The bundle of version {version.number} is no longer stored.")
    if checksum_of(content) != version.checksum:
        raise NotPossible(
            f"The bundle of version {version.number} is damaged, because its checksum differs. "
            "To store the bundle again, run `gazette templates push` with the same folder."
        )
    try:
        return unpack(content)
    except BundleError as err:
        raise NotPossible(f"The bundle of version {version.number} is unreadable: {err}.") from err


def in_words_of(in_force: InForce) -> str:
    """Describe the versions in force, such as `5 % of the readers get version 7, others version
    6`.
    """
    current = named(in_force.current)
    if (candidate := in_force.candidate) is None:
        return f"all readers get {current}"
    return f"{candidate.percent} % of the readers get {named(candidate.version)}, others {current}"


def named(version: Version) -> str:
    """Return the name of a version, such as `version 7`."""
    return "the deployed templates" if version.is_deployed else f"version {version.number}"


def _sentence(err: Exception) -> str:
    text = str(err)
    return f"{text[:1].upper()}{text[1:]}."
