"""Write docs/api/openapi.json: `python -m tests.api_document`."""

from pathlib import Path

from gazette_support.adapters.published_api import text

DOCUMENT = Path(__file__).parents[1] / "docs" / "api" / "openapi.json"

if __name__ == "__main__":
    DOCUMENT.parent.mkdir(parents=True, exist_ok=True)
    DOCUMENT.write_text(text(), encoding="utf-8")
