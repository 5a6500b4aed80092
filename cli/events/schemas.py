"""The schemas of data that the templates of a stage have."""

from pathlib import Path

from gazette.adapters.contract.data import SCHEMA_FILES, Schemas

from cli.shared.console import NotPossible
from cli.shared.stages import stage_of


def schemas_of(stage: str, project: Path) -> Schemas:
    """What a stage of cdk.json demands of data, by category. Raises NotPossible."""
    own = stage_of(stage, project).templates
    if not own or not any((project / own).glob(SCHEMA_FILES)):
        return {}
    # What only some stages need is imported for them: it takes a tenth of a second.
    from infra.assets.data_schemas import check_schemas
    from infra.assets.inline import TemplateError

    try:
        return check_schemas(project / own)
    except TemplateError as err:
        raise NotPossible(str(err)) from err
