"""The sandbox in which templates that were pushed are rendered: they read values, and do nothing.

Who may push a version may write every reader's email; what a template says is theirs. The sandbox
keeps it to that: no template reaches Python, this process or its secrets.
https://jinja.palletsprojects.com/en/stable/sandbox/
"""

from collections.abc import MutableMapping
from datetime import tzinfo
from functools import partial
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gazette.adapters.rendering.environment import QuickContext, QuickEnvironment
from gazette.adapters.rendering.view_models import Line

LONGEST_REPEATED = 100_000
"""What a text or list may be long that `*` repeats, as `range` is bounded by Jinja."""

_WITHOUT_ATTRIBUTES = (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    ModuleType,
    partial,
    type,
)
"""What templates call, or never see. A partial tells what it was made with: `partial.keywords`."""

_ZONE = frozenset({"key"})
"""What templates may ask of a time zone: the cache of zones is the whole process's."""

_FIELDS = (FunctionType, MemberDescriptorType, property, type(vars(Line)["line"]))
"""What methods, slots, properties and the fields of named tuples are in their class."""


class SandboxedTemplates(ImmutableSandboxedEnvironment):
    """As our own environment, in Jinja's sandbox. In it, a call goes through `call` first.

    `context_class` takes the short way only for what `call` has let pass.
    """

    context_class = QuickContext
    intercepted_binops = frozenset({"*", "**"})

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._fields: set[tuple[type, str]] = set()
        del self.globals["lipsum"]  # makes as much text as it is asked for

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """As our own environment does."""
        return QuickEnvironment.make_globals(self, d)  # type: ignore[arg-type]

    def call(self, context: Context, called: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what a template could reach: by then it is safe.

        Jinja asks each function whether it is marked as unsafe; none of those that templates are
        given is.
        """
        return context.call(called, *args, **kwargs)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """As Jinja does, but at once for a public field or method of our own values.

        What it holds is held against the rules when the template goes on from there.
        """
        of = type(obj)
        if (of, attribute) in self._fields:
            return getattr(obj, attribute)
        if (
            attribute[:1] != "_"
            and type(getattr(of, attribute, None)) in _FIELDS
            and of.__module__.startswith("gazette.")
        ):
            self._fields.add((of, attribute))
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """As Jinja does, and nothing of functions, types, modules and the cache of zones."""
        if isinstance(obj, _WITHOUT_ATTRIBUTES):
            return False
        if isinstance(obj, tzinfo) and attr not in _ZONE:
            return False
        return super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002
        """Multiply numbers, or repeat a little. Raises SecurityError for more."""
        if operator == "**":
            raise SecurityError("a power can take all memory: multiply instead")
        for repeated, times in ((left, right), (right, left)):
            if (
                isinstance(times, int)
                and hasattr(repeated, "__len__")
                and len(repeated) * times > LONGEST_REPEATED
            ):
                raise SecurityError(f"nothing may be repeated to more than {LONGEST_REPEATED}")
        return left * right
