"""The sandbox for pushed templates, which can read values but have no side effects.

A user who may push a version can change every reader's email, and is responsible for the text. The
sandbox prevents access to anything else: templates cannot reach Python, this process or its
secrets.
https://jinja.palletsprojects.com/en/stable/sandbox/
"""

from gazette.adapters.templates.sandbox.templates import SandboxedTemplates

__all__ = ["SandboxedTemplates"]
