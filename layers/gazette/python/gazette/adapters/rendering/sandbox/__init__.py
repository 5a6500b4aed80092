"""The sandbox in which templates that were pushed are rendered: they read values, and do nothing.

Who may push a version may write every reader's email; what a template says is theirs. The sandbox
keeps it to that: no template reaches Python, this process or its secrets.
https://jinja.palletsprojects.com/en/stable/sandbox/
"""

from gazette.adapters.rendering.sandbox.templates import SandboxedTemplates

__all__ = ["SandboxedTemplates"]
