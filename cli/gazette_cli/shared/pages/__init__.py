"""The HTML pages that commands write: their common template and its content."""
