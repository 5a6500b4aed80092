"""Fixtures that the short seeds of the proofs share with the tests."""

from tests.conftest import aws_is_read_once, built_templates, clock, templates_on_path

__all__ = ["aws_is_read_once", "built_templates", "clock", "templates_on_path"]
