"""The Jinja2 environment for emails and pages.

Undefined names are errors, HTML is escaped, and sentences are translated. A variation may override
files.
"""

import re
from collections.abc import Callable, Mapping, MutableMapping
from functools import lru_cache
from pathlib import Path
from types import BuiltinMethodType, CodeType, MethodType
from typing import Any

from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    StrictUndefined,
    Template,
    pass_context,
    pass_eval_context,
    select_autoescape,
)
from jinja2.environment import TemplateModule
from jinja2.runtime import Context
from jinja2.utils import missing
from markupsafe import Markup, escape

VARIATIONS = "variations"
"""The folder for files of variations, which override the shared files. For example,
`variations/2/digest/subject.txt` overrides `digest/subject.txt`.
"""


def environment(
    templates: Path, variation: int = 1, *, kind: type[Environment] | None = None
) -> Environment:
    """Return a Jinja environment for a folder of templates.

    Files of the variation override shared files. `kind` is the class of the environment, such as
    the sandbox's. None means the regular class.
    """
    created = (kind or QuickEnvironment)(
        loader=ChoiceLoader(
            [
                FileSystemLoader(templates / VARIATIONS / str(variation)),
                FileSystemLoader(templates),
            ]
        ),
        autoescape=lru_cache(select_autoescape(enabled_extensions=("html",), default=False)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        cache_size=-1,  # a dictionary; the default cache moves each template that it returns
        extensions=["jinja2.ext.i18n"],
    )
    created.globals["say"] = pass_context(_say)
    created.globals["own"] = own
    created.policies["ext.i18n.trimmed"] = True
    # With this setting, `trans` passes values to the context's functions (see Language.values).
    created.newstyle_gettext = True  # type: ignore[attr-defined] # the extension adds it
    return created


def _say(context: Context, sentence: str) -> str:
    """Render `parts/<sentence>.txt` to one line of plain text. Templates escape this text like any
    value.

    Most sentences occur in both parts of an email, so the result is cached if `SAID` is a
    dictionary.
    """
    sentences: dict[str, str] = context.parent.get(SAID, {})
    rendered = sentences.get(sentence)
    if rendered is None:
        template = context.environment.get_template(f"parts/{sentence}.txt")
        inner = template.new_context(context.get_all(), shared=True)
        rendered = " ".join(context.environment.concat(template.root_render_func(inner)).split())
        sentences[sentence] = rendered
    return rendered


SAID = "\x00said"
"""The name of the value that caches the rendered sentences of an email. Templates cannot access a
value with this name."""


_OWN = re.compile("\x01([a-z]+) ([^\x02]*)\x02(.*?)\x04", re.DOTALL)
_HREF = "\x03"
"""The pattern of the placeholder for a reader's personal link. Its control characters cannot occur
in texts from services (texts.py)."""


def own(act: str, category: str = "", *, caller: Callable[[str], str]) -> str:
    """Return the part of a block that contains a personal link, with a placeholder instead of the
    link.

    The block is cached for all readers, and `insert_own_links` replaces the placeholder with a
    reader's link. `caller` renders the part around the placeholder.
    """
    return caller(_HREF).join((f"\x01{act} {category}\x02", "\x04"))


SplitBlock = tuple[str, str, str]
"""A rendered block in three parts: the text before the first placeholder of a personal link, the
text up to the end of the last placeholder, and the text after it."""


def split_block(rendered: str) -> SplitBlock:
    """Split a rendered block before the first and after the last placeholder of a personal link.
    The part in the middle is short and identical in many blocks.
    """
    first = rendered.find("\x01")
    if first < 0:
        return rendered, "", ""
    last = rendered.rfind("\x04") + 1
    return rendered[:first], rendered[first:last], rendered[last:]


def insert_own_links(rendered: str, link_of: Callable[[str, str], str]) -> str:
    """Insert the reader's personal links into a rendered text. Omit the text around missing links.

    `link_of(act, category)` returns a link as it is to be inserted, or an empty string.
    """

    def fill(place: re.Match[str]) -> str:
        link = link_of(place[1], place[2])
        return place[3].replace(_HREF, link) if link else ""

    return _OWN.sub(fill, rendered)


class QuickContext(Context):
    """Jinja's context with faster lookups and calls for common cases.
    https://jinja.palletsprojects.com/en/stable/api/#jinja2.Environment.context_class
    """

    def call(self, called: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a method directly. Unlike macros, methods do not use variables of loops and
        blocks.
        """
        if type(called) is MethodType:
            argument = called.__func__.__dict__.get("jinja_pass_arg")
            if argument is _EVAL_CONTEXT:
                args = (self.eval_ctx, *args)
            elif argument is not None:
                return super().call(called, *args, **kwargs)
        elif type(called) is not BuiltinMethodType:
            return super().call(called, *args, **kwargs)
        if kwargs:
            kwargs.pop("_loop_vars", None)
            kwargs.pop("_block_vars", None)
        return called(*args, **kwargs)

    def resolve_or_missing(self, key: str) -> Any:
        """Return the variable, or Jinja's marker for a missing variable."""
        if self.vars and key in self.vars:
            return self.vars[key]
        return self.parent.get(key, missing)


_EVAL_CONTEXT: object = vars(pass_eval_context(lambda context: context))["jinja_pass_arg"]


def _escaped(value: Any) -> str:
    """Return the same characters as `escape`, but not as Markup, which takes longer to create.

    Jinja escapes values only to join them to the text of a template.
    """
    if type(value) is str:
        return (
            value.replace("&", "&amp;")
            .replace(">", "&gt;")
            .replace("<", "&lt;")
            .replace("'", "&#39;")
            .replace('"', "&#34;")
        )
    return value if type(value) is Markup else escape(value)


class FreshTemplate(Template):
    """A template whose module is recreated each time a different template imports or includes it.

    Jinja caches the module of a template that is imported, or included without the context, for the
    lifetime of the environment. The content of namespaces and cyclers in such a module would leak
    into the next reader's email.
    https://jinja.palletsprojects.com/en/stable/templates/#import-context-behavior
    """

    @classmethod
    def from_code(
        cls,
        environment: Environment,
        code: CodeType,
        globals: MutableMapping[str, Any],  # noqa: A002 -- the name of Jinja's parameter
        uptodate: Callable[[], bool] | None = None,
    ) -> Template:
        """Return the template of compiled code, which escapes values with `_escaped`."""
        template = super().from_code(environment, code, globals, uptodate)
        template.root_render_func.__globals__["escape"] = _escaped
        return template

    def _get_default_module(self, ctx: Context | None = None) -> TemplateModule:
        """Return a new module instead of Jinja's cached one."""
        beyond = ctx.globals_keys - self.globals.keys() if ctx else ()
        return self.make_module({name: ctx.parent[name] for name in beyond} if ctx else None)


class QuickEnvironment(Environment):
    """An environment whose templates get a copy of the globals when they are loaded."""

    context_class = QuickContext
    template_class = FreshTemplate

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return a copy of the globals, because lookups in Jinja's chain of dictionaries are
        slow.
        """
        return {**self.globals, **(d or {})}


class Press:
    """A renderer of several templates that share one set of `values`, which may change. Not
    thread-safe.

    Jinja creates a context for each rendering. Here, each template keeps one context, which is
    reset before each use.
    """

    def __init__(self, environment: Environment, values: Mapping[str, Any]) -> None:
        self.values = {**environment.globals, **values}
        self.environment = environment
        self._contexts: dict[Template, Context] = {}

    def render(self, template: Template) -> str:
        """Render the template with the current values. Raises the template's errors."""
        context = self._contexts.get(template)
        if context is None:
            context = template.new_context(self.values, shared=True)
            self._contexts[template] = context
        elif context.vars or context.blocks:
            context.vars.clear()
            context.exported_vars.clear()
            context.blocks = {name: [block] for name, block in template.blocks.items()}
        try:
            return self.environment.concat(template.root_render_func(context))
        except Exception:  # noqa: BLE001 -- raised again, with the template's file and line
            # The template may have failed in a block without escaping, and the context would keep
            # that.
            del self._contexts[template]
            self.environment.handle_exception()
