"""Build and check a bundle of the working tree's templates, and render it in the sandbox."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from gazette.adapters.templates.bundle import BundleError, pack, unpack
from gazette.adapters.templates.sandbox import SandboxedTemplates
from gazette.domain.templates.settings import VersionSettings

from gazette_cli.shared.console import NotPossible
from gazette_cli.templates import building, pages
from gazette_cli.templates.building import Templates, built, settings_in, templates_of, tried_out
from gazette_cli.templates.deployed import DeployedLayer, release_here, schemas_of
from gazette_cli.templates.differences import Files


@dataclass(frozen=True, slots=True)
class Packed:
    """A bundle, with its files and settings."""

    # The content of the compressed bundle.
    content: bytes

    files: Files
    settings: VersionSettings


def tree_of(stage: str, folder: Path | None) -> Templates:
    """Return Gazette's templates and the stage's own templates. The folder of the stage's own
    templates is an argument, or is a setting of the stage. Raises NotPossible.
    """
    if folder is None:
        return templates_of(stage)
    if not folder.is_dir():
        raise NotPossible(
            f"{folder} is not a folder. Specify the folder that contains your templates."
        )
    return Templates(building.SOURCE, folder)


def packed(tree: Templates) -> Packed:
    """Build the templates, and pack them into a bundle. Raises NotPossible, which names the file
    that failed.
    """
    with built(tree) as folder:
        try:
            content = pack(folder)
        except BundleError as err:
            raise NotPossible(f"A push of these templates is not possible. {err}.") from err
        return Packed(content, unpack(content), settings_in(folder))


def try_in_sandbox(bundle: Packed, tree: Templates) -> None:
    """Render each email from the bundle in the same sandbox as the workers.

    Raises NotPossible. The error names the file in the working tree, the line and the problem.
    """
    with tempfile.TemporaryDirectory() as folder:
        write_files(bundle.files, Path(folder))
        tried_out(tree, Path(folder), SandboxedTemplates)


def refuse_what_needs_a_deployment(bundle: Packed, layer: DeployedLayer, stage: str) -> None:
    """Raise NotPossible if the code, the schemas of data or the web pages differ from the
    deployment.
    """
    if layer.release != release_here():
        raise NotPossible(
            f"The code of this working tree differs from the release deployed in stage {stage}, "
            "which may lack features that the templates need. Check out the deployed release, "
            "or deploy this release first."
        )
    ours, theirs = schemas_of(bundle.files), schemas_of(layer.templates)
    either = sorted(ours.keys() | theirs.keys())
    differ = [each for each in either if ours.get(each) != theirs.get(each)]
    if differ:
        raise NotPossible(
            f"The data schema of {', '.join(differ)} differs from the deployed schema, which "
            "ingest uses to validate events. A schema change needs a deployment. Deploy the "
            "schema, then push."
        )
    if differ := pages.differing(bundle.files, layer.templates):
        raise NotPossible(
            f"{', '.join(differ)} differs from the deployed version. Web pages, such as the "
            "preference page, use only deployed files, so this change needs a deployment. "
            "Deploy the change, then push, or remove the change from the folder that you push."
        )


def write_files(files: Files, folder: Path) -> Path:
    """Write the files of a version to a folder, and return the folder."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder
