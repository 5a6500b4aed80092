"""The sandbox for pushed templates. They read values, and have no effects.

A person who may push a version may write every reader's email, and is responsible for its text. The
sandbox prevents more: no template reaches Python, this process or its secrets.
https://jinja.palletsprojects.com/en/stable/sandbox/
"""

from gazette.adapters.rendering.sandbox.templates import SandboxedTemplates

__all__ = ["SandboxedTemplates"]
