"""A script that writes docs/content, with the schema and an example of a response."""

from pathlib import Path

from gazette_support.adapters.published_contract import answer_documents

FOLDER = Path(__file__).parents[1] / "docs" / "content"


def main() -> None:
    """Write each document."""
    for name, text in answer_documents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
