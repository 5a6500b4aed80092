"""The Jinja2 environment: undefined names are errors, HTML is escaped, sentences are translated.

A variation has its own files.
"""

import re
from collections.abc import Callable, Mapping, MutableMapping
from functools import lru_cache
from pathlib import Path
from types import BuiltinMethodType, MethodType
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

VARIATIONS = "variations"
"""The folder of the variations' own files, such as `variations/2/digest/subject.txt`."""


def environment(
    templates: Path, variation: int = 1, *, kind: type[Environment] | None = None
) -> Environment:
    """The templates in a folder. The variation's own files take precedence over shared ones.

    `kind`: of the environment, such as that of the sandbox; None: our own.
    """
    made = (kind or QuickEnvironment)(
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
        extensions=["jinja2.ext.i18n"],
    )
    made.globals["say"] = pass_context(_say)
    made.globals["own"] = own
    made.policies["ext.i18n.trimmed"] = True
    # `trans` then calls the functions of the context, with values: see Language.values.
    made.newstyle_gettext = True  # type: ignore[attr-defined] # the extension adds it
    return made


def _say(context: Context, sentence: str) -> str:
    """`parts/<sentence>.txt` on one line, as plain text: templates escape it like any value.

    Both parts of an email say most sentences, so it is rendered once where `SAID` is a dictionary.
    """
    known: dict[str, str] = context.parent.get(SAID, {})
    said = known.get(sentence)
    if said is None:
        template = context.environment.get_template(f"parts/{sentence}.txt")
        inner = template.new_context(context.get_all(), shared=True)
        said = " ".join(context.environment.concat(template.root_render_func(inner)).split())
        known[sentence] = said
    return said


SAID = "\x00said"
"""Where the sentences of an email are kept among its values; no template can name it."""


_OWN = re.compile("\x01([a-z]+) ([^\x02]*)\x02(.*?)\x04", re.DOTALL)
_HREF = "\x03"
"""Controls mark the place of a reader's own link: no text of services has one (view_models)."""


def own(act: str, category: str = "", *, caller: Callable[[str], str]) -> str:
    """What a block shows with one of the reader's own links, which `caller` gets.

    The block is cached for all readers: `with_own` puts in the links of one of them.
    """
    return caller(_HREF).join((f"\x01{act} {category}\x02", "\x04"))


Parted = tuple[str, str, str]
"""A rendered block: what is before the places of the reader's own links, those, and the rest."""


def parted(rendered: str) -> Parted:
    """Most blocks have their places side by side: they are short, and the same in many blocks."""
    first = rendered.find("\x01")
    if first < 0:
        return rendered, "", ""
    last = rendered.rfind("\x04") + 1
    return rendered[:first], rendered[first:last], rendered[last:]


def with_own(rendered: str, link_of: Callable[[str, str], str]) -> str:
    """Rendered text with the reader's own links; without what stands round those they lack.

    `link_of` is asked for `(act, category)`, and returns a link as it is to be written, or nothing.
    """

    def shown(place: re.Match[str]) -> str:
        link = link_of(place[1], place[2])
        return place[3].replace(_HREF, link) if link else ""

    return _OWN.sub(shown, rendered)


class QuickContext(Context):
    """What Jinja does at each call and for each name, with less ado for what templates mostly use.

    https://jinja.palletsprojects.com/en/stable/api/#jinja2.Environment.context_class
    """

    def call(self, called: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a method at once: it sees no variables of loops and blocks."""
        if type(called) is MethodType:
            wanted = called.__func__.__dict__.get("jinja_pass_arg")
            if wanted is _EVAL_CONTEXT:
                args = (self.eval_ctx, *args)
            elif wanted is not None:
                return super().call(called, *args, **kwargs)
        elif type(called) is not BuiltinMethodType:
            return super().call(called, *args, **kwargs)
        if kwargs:
            kwargs.pop("_loop_vars", None)
            kwargs.pop("_block_vars", None)
        return called(*args, **kwargs)

    def resolve_or_missing(self, key: str) -> Any:
        """The variable, or Jinja's mark for what is missing."""
        if self.vars and key in self.vars:
            return self.vars[key]
        return self.parent.get(key, missing)


_EVAL_CONTEXT: object = vars(pass_eval_context(lambda context: context))["jinja_pass_arg"]


class FreshTemplate(Template):
    """A template that is made anew wherever another one imports or includes it.

    Jinja keeps the module of a template that is imported, or included without the context, as long
    as its environment: what a namespace or a cycler of it holds would reach the next reader.
    https://jinja.palletsprojects.com/en/stable/templates/#import-context-behavior
    """

    def _get_default_module(self, ctx: Context | None = None) -> TemplateModule:
        """As Jinja does, without keeping the module."""
        beyond = ctx.globals_keys - self.globals.keys() if ctx else ()
        return self.make_module({name: ctx.parent[name] for name in beyond} if ctx else None)


class QuickEnvironment(Environment):
    """Gives each template the globals in one dictionary, as they are set before it is read."""

    context_class = QuickContext
    template_class = FreshTemplate

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """As Jinja does, but copied: its chain of dictionaries is slow to read."""
        return {**self.globals, **(d or {})}


class Press:
    """Renders templates one after the other, with `values`, which may change. For one thread.

    Jinja makes a context for each rendering. Here each template keeps its own, and gets it as new.
    """

    def __init__(self, environment: Environment, values: Mapping[str, Any]) -> None:
        self.values = {**environment.globals, **values}
        self.environment = environment
        self._contexts: dict[Template, Context] = {}

    def render(self, template: Template) -> str:
        """The template, with the values as they are now. Raises what it raises."""
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
            # It may have stopped where nothing is escaped, which the context would remember.
            del self._contexts[template]
            self.environment.handle_exception()
