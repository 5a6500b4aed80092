"""The Jinja environment for pushed templates."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from datetime import date, time, timedelta, tzinfo
from functools import partial, update_wrapper
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.environment import TemplateModule
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import (
    ImmutableSandboxedEnvironment,
    SandboxedEscapeFormatter,
    SandboxedFormatter,
)
from markupsafe import Markup

from gazette.adapters.rendering.environment import FreshTemplate, QuickContext, QuickEnvironment
from gazette.adapters.rendering.language import Language
from gazette.adapters.rendering.view_models import ShownLine
from gazette.adapters.templates.sandbox.operations import (
    add,
    bounded_filters,
    bounded_method,
    concatenate,
    fill,
    multiply,
)
from gazette.adapters.templates.sandbox.rendered import Buffer, joined
from gazette.adapters.templates.sandbox.sizes import (
    check_given,
    check_instant,
    check_length,
    check_made,
    check_number,
    check_parts,
    check_sentence,
    check_shown,
    check_spec,
)

_WITHOUT_ATTRIBUTES = (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    ModuleType,
    partial,
    type,
)
"""Types whose attributes are hidden, because templates only call them or never receive them. For
example, `partial.keywords` would reveal arguments."""

_INSTANTS = (date, time, timedelta, tzinfo)
"""The types of dates, times, durations and time zones. Calls of their methods are checked, because
methods such as `strftime` can create long texts."""

_ZONE = frozenset({"key"})
"""The attributes of a time zone that templates may read. The cache of zones is shared by the whole
process."""

_FIELDS = (FunctionType, MemberDescriptorType, property, type(vars(ShownLine)["line"]))
"""The types of methods, slots, properties and named-tuple fields when accessed on a class."""

_METHODS = frozenset({BuiltinFunctionType, MethodType})

_PLACES = frozenset({str, int})

_SENTENCES = frozenset({vars(Language)["_gettext"], vars(Language)["_ngettext"]})
"""The methods that `trans`, `gettext` and `ngettext` call."""

_LISTS = frozenset({vars(Language)["listed"], vars(Language)["named"]})
_NUMBER = vars(Language)["number"]

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {"+": add, "*": multiply, "%": fill}


def _is_of_an_instant(owner: Any) -> bool:
    """Return True for a date or time, or for the type of one. The type counts because `strptime` is
    a class method.
    """
    return isinstance(owner, _INSTANTS) or (
        isinstance(owner, type) and issubclass(owner, _INSTANTS)
    )


class _BoundedCode(CodeGenerator):
    """Jinja's code generator, with limits on text that is captured in a variable or joined by
    `~`.
    """

    def buffer(self, frame: Frame) -> None:
        """Write the code that starts capturing rendered text, as in a macro."""
        frame.buffer = self.temporary_identifier()
        self.writeline(f"{frame.buffer} = environment.buffer()")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802 -- Jinja's name
        """Write the code for the `~` operator, which joins texts with Jinja's function if they are
        short.
        """
        escaping = "markup_join" if frame.eval_ctx.autoescape else "str_join"
        if frame.eval_ctx.volatile:
            escaping = "(markup_join if context.eval_ctx.volatile else str_join)"
        self.write(f"environment.concatenate({escaping}, (")
        for each in node.nodes:
            self.visit(each, frame)
            self.write(", ")
        self.write("))")


class _BoundedFormatter(SandboxedFormatter):
    """A formatter for one text, which limits the length of the output."""

    _length = 0

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, str]:
        """Return the value of a field in a format string. Raise SecurityError if the value is too
        long.
        """
        value, first = super().get_field(field_name, args, kwargs)
        return check_shown(value), first

    def format_field(self, value: Any, format_spec: str) -> str:
        """Format a value. Raise SecurityError if the whole text becomes too long."""
        check_spec(format_spec)
        if isinstance(value, _INSTANTS):
            check_instant(format_spec)
        text: str = super().format_field(value, format_spec)
        self._length += len(text)
        check_length(self._length)
        return text


class _BoundedEscapeFormatter(_BoundedFormatter, SandboxedEscapeFormatter):
    """A formatter that also escapes the values in HTML text."""


class _BoundedTemplate(FreshTemplate):
    """A template that can be imported. Its module contains the rendered text."""

    def make_module(
        self,
        vars: dict[str, Any] | None = None,  # noqa: A002 -- Jinja's name
        shared: bool = False,
        locals: Mapping[str, Any] | None = None,  # noqa: A002 -- Jinja's name
    ) -> TemplateModule:
        """Return Jinja's module, with a limit on the module's text."""
        context = self.new_context(vars, shared, locals)
        rendered = joined(self.root_render_func(context))
        return TemplateModule(self, context, (rendered,))


class SandboxedTemplates(ImmutableSandboxedEnvironment):
    """Gazette's environment inside Jinja's sandbox. Every call in a template is made by `call`.

    The faster calls of `context_class` take place only after `call`.
    """

    context_class = QuickContext
    code_generator_class = _BoundedCode
    template_class = _BoundedTemplate
    intercepted_binops = frozenset({"+", "*", "**", "%"})
    buffer = Buffer
    concat = staticmethod(joined)
    concatenate = staticmethod(concatenate)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._fields: set[tuple[type, str]] = set()
        self._checked: set[str] = set()
        del self.globals["lipsum"]  # writes as much text as its argument specifies
        # Jinja's `_` would call a `gettext` that a template defines, bypassing `call`.
        del self.globals["_"]
        self.filters = bounded_filters(self.filters)
        self.finalize = check_shown

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return a copy of the globals, like QuickEnvironment."""
        return QuickEnvironment.make_globals(self, d)  # type: ignore[arg-type]

    def call(self, context: Context, called: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function that templates can reach. All such functions are safe.

        Jinja checks whether a function is marked as unsafe, which none of these functions is. Calls
        of string methods and translations have limits.
        """
        of = type(called)
        if of is MethodType:
            if called.__func__ in _SENTENCES:
                self._check_catalogue(called.__self__)
                check_sentence(args, kwargs)
            elif isinstance(called.__self__, str):
                return bounded_method(called, args, kwargs)
            else:
                check_given(args, kwargs)
                self._check_language(called, args, kwargs)
        elif of is BuiltinFunctionType and isinstance(called.__self__, (str, bytes, int)):
            return bounded_method(called, args, kwargs)
        else:
            check_given(args, kwargs)
            if of is BuiltinFunctionType and _is_of_an_instant(called.__self__):
                for each in (*args, *kwargs.values()):
                    check_instant(each)
        return check_made(context.call(called, *args, **kwargs))

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute in the same way as Jinja, but faster for public attributes of
        Gazette's own objects.

        The attributes of the result are checked when the template accesses them.
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

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return an item in the same way as Jinja. Reject a large key, because an error message
        would contain the key.
        """
        if type(argument) not in _PLACES:
            check_given((argument,), {})
        return super().getitem(obj, argument)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Return False for functions, types, modules and the time zone cache. Otherwise, return
        Jinja's result.
        """
        if isinstance(obj, _WITHOUT_ATTRIBUTES):
            return False
        if isinstance(obj, tzinfo) and attr not in _ZONE:
            return False
        return super().is_safe_attribute(obj, attr, value)

    @staticmethod
    def _check_language(called: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise SecurityError for lists and numeric texts from which Babel could build long
        texts.
        """
        if called.__func__ in _LISTS:
            check_parts((*args, *kwargs.values()))
        elif called.__func__ is _NUMBER:
            for each in (*args, *kwargs.values()):
                check_number(each)

    def _check_catalogue(self, language: Language) -> None:
        """Check a language's catalogue once per version, because catalogues are pushed with
        templates.
        """
        if language.tag not in self._checked:
            check_sentence(tuple(language.sentences()), {})
            self._checked.add(language.tag)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002
        """Apply a binary operator. Raises SecurityError if the result would exceed the limits."""
        if operator == "**":
            raise SecurityError("the operator ** can exhaust the memory; multiply instead")
        return _OPERATORS[operator](left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return Jinja's wrapper of `str.format` with a formatter that limits the output."""
        if type(value) not in _METHODS or value.__name__ not in {"format", "format_map"}:
            return None
        text = value.__self__
        if not isinstance(text, str):
            return None
        kind = _BoundedEscapeFormatter if isinstance(text, Markup) else _BoundedFormatter
        arguments = {"escape": text.escape} if isinstance(text, Markup) else {}

        def formatted(*args: Any, **kwargs: Any) -> str:
            return type(text)(kind(self, **arguments).vformat(text, args, kwargs))

        def formatted_map(values: Mapping[str, Any]) -> str:
            return type(text)(kind(self, **arguments).vformat(text, (), values))

        is_map = value.__name__ == "format_map"
        return update_wrapper(formatted_map if is_map else formatted, value)
