"""Writes docs/content: the schema and the example of what a recommendation service answers."""

from pathlib import Path

from gazette.adapters.contract.published import answer_documents

FOLDER = Path(__file__).parents[1] / "docs" / "content"


def main() -> None:
    """Write each document."""
    for name, text in answer_documents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
