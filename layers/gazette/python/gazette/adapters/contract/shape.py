"""Text of a certain shape: one pattern for the check and for the JSON Schema."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True)
class Shape:
    """Text that fits `pattern` from end to end; `wanted` says so to a person.

    Patterns are such that Python and ECMA-262 read alike: they go into the JSON Schema.
    """

    pattern: str
    wanted: str
    format: str | None = None

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Checked after the type and the length."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """What the schema of the type says, and the pattern."""
        also = {"format": self.format} if self.format else {}
        return {**handler(schema), **also, "pattern": f"^{self.pattern}$"}

    def check(self, text: str) -> str:
        """`text` itself. Raises ValueError."""
        if not re.fullmatch(self.pattern, text):
            raise ValueError(self.wanted)
        return text
