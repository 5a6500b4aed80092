"""A folder of the working tree as a bundle, checked as synthesis checks it, and in the sandbox."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from gazette.adapters.rendering.sandbox import SandboxedTemplates
from gazette.adapters.templates.bundle import BundleError, pack, unpack
from gazette.domain.templates.settings import VersionSettings

from cli.shared.console import NotPossible
from cli.templates import pages
from cli.templates.building import Templates, built, settings_in, templates_of, tried_out
from cli.templates.deployed import DeployedLayer, release_here, schemas_of
from cli.templates.differences import Files

PROJECT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Packed:
    """A bundle, and what is in it."""

    content: bytes
    files: Files
    settings: VersionSettings


def tree_of(stage: str, folder: Path | None) -> Templates:
    """Our templates with those of a folder, or of the stage in cdk.json. Raises NotPossible."""
    if folder is None:
        return templates_of(stage, PROJECT)
    if not folder.is_dir():
        raise NotPossible(f"{folder} is no folder: it would hold your own templates.")
    return Templates(PROJECT / "templates", folder)


def packed(tree: Templates) -> Packed:
    """Build and pack them. Raises NotPossible, naming the file that is wrong."""
    with built(tree) as folder:
        try:
            content = pack(folder)
        except BundleError as err:
            raise NotPossible(f"The templates cannot be pushed. {err}.") from err
        return Packed(content, unpack(content), settings_in(folder))


def try_in_sandbox(bundle: Packed, tree: Templates) -> None:
    """Render each email as workers will: from the bundle, in the sandbox.

    Raises NotPossible, naming the file of the working tree, the line and what is wrong there.
    """
    with tempfile.TemporaryDirectory() as folder:
        write_files(bundle.files, Path(folder))
        tried_out(tree, Path(folder), SandboxedTemplates)


def refuse_what_needs_a_deployment(bundle: Packed, layer: DeployedLayer, stage: str) -> None:
    """Raise NotPossible if the code, the schemas of data or the pages differ from the deployed."""
    if layer.release != release_here():
        raise NotPossible(
            f"The code here is another release than the one with which stage {stage} works, and "
            "its templates may need what that one does not have: check out the release that is "
            "deployed, or deploy this one first."
        )
    ours, theirs = schemas_of(bundle.files), schemas_of(layer.templates)
    either = sorted(ours.keys() | theirs.keys())
    differ = [each for each in either if ours.get(each) != theirs.get(each)]
    if differ:
        raise NotPossible(
            f"The schema of the data of {', '.join(differ)} differs from the deployed one, which "
            "ingest holds events against: this needs a deployment. Deploy it, then push."
        )
    if differ := pages.differing(bundle.files, layer.templates):
        raise NotPossible(
            f"{', '.join(differ)}: this differs from what is deployed, and web pages, such as the "
            "preference page, show only what is deployed: this needs a deployment. Deploy it, then "
            "push; or take it out of the folder that you push."
        )


def write_files(files: Files, folder: Path) -> Path:
    """The files of a version, below a folder."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder
