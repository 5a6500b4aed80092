"""The schemas of `data` in the templates of a stage of the project."""

from gazette.adapters.contract.data import SCHEMA_FILES, Schemas

from gazette_cdk.folders import project
from gazette_cli.shared.console import NotPossible
from gazette_cli.shared.stages import stage_of


def schemas_of(stage: str) -> Schemas:
    """Return the schemas of `data` for a stage of the project, by category. Raises NotPossible."""
    own = stage_of(stage).templates
    if not own or not any((project() / own).glob(SCHEMA_FILES)):
        return {}
    # The import takes a tenth of a second, and only stages with schemas need it.
    from gazette_cdk.assets.templates.data_schemas import check_schemas
    from gazette_cdk.assets.templates.faults import TemplateError

    try:
        return check_schemas(project() / own)
    except TemplateError as err:
        raise NotPossible(str(err)) from err
