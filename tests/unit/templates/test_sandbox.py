"""Templates that were pushed read values and do nothing: attacks, each with what it is after."""

import io
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from gettext import GNUTranslations
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from babel import Locale
from gazette.adapters.rendering.environment import environment
from gazette.adapters.rendering.language import Language, Languages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.templates.sandbox import SandboxedTemplates
from gazette.adapters.web.links import SignedLinks
from gazette.domain.delivery.compose import compose
from gazette.domain.errors import RenderingFailed
from gazette.domain.links import LinkKeys
from gazette.domain.model import DAILY
from jinja2 import Environment
from jinja2.exceptions import SecurityError, TemplateNotFound, UndefinedError

from tests.builders import NOW, a_link, a_subscriber, an_event

KEY = b"the key that signs all links of all readers"


@pytest.fixture
def sandbox(tmp_path: Path) -> Environment:
    return environment(tmp_path, kind=SandboxedTemplates)


def values(built_templates: Path) -> dict[str, object]:
    """What templates are given: language, links, zone, and an email's digest."""
    links = SignedLinks(base_url="https://example.com", keys=lambda: LinkKeys({"k1": KEY}))
    return {
        **Languages(built_templates).of("en").values(),
        "links": links.links(a_link()),
        "zone": ZoneInfo("Europe/Berlin"),
        "digest": compose([an_event()], max_blocks=1),
        "now": datetime(2026, 1, 1, tzinfo=UTC),
        "made": partial(print, KEY, file=io.StringIO()),
        "items": [1, 2],
        "table": {"a": 1},
        "width": 300_000,
        "doubled": doubled(),
        "items_300": (1,) * 300,
    }


ATTACKS = [
    # Python, by what any value leads to.
    "{{ ''.__class__.__mro__ }}",
    "{{ ''['__class__']['__mro__'] }}",
    "{{ ''|attr('__class__')|attr('__mro__') }}",
    "{{ ''.__class__.__base__.__subclasses__() }}",
    "{{ [''] | map(attribute='__class__') | join }}",
    "{{ ([''] | groupby('__class__'))[0][0] }}",
    "{{ [{'a': ''}] | map(attribute='a.__class__') | join }}",
    "{{ [''] | selectattr('__class__') | list }}",
    "{{ [''] | sort(attribute='__class__.__name__') }}",
    "{{ [''] | sum(attribute='__class__') }}",
    # By format strings, also where the method is called by a filter or under another name.
    "{{ '{0.__class__}'.format(digest) }}",
    "{{ '{x.__class__}'.format(x=digest) }}",
    "{{ '{0[__class__]}'.format(digest) }}",
    "{{ '{x.__class__}'.format_map({'x': digest}) }}",
    "{% set f = '{0.__class__}'.format %}{{ f(digest) }}",
    "{{ ('{0.__class__}'|attr('format'))(digest) }}",
    "{{ ('<b>{0.__class__}</b>'|safe).format(digest) }}",
    "{{ ['{0.__class__}'] | map('format', digest) | list }}{{ ''.__class__ }}",
    # By functions and objects of Jinja and of ours.
    "{{ cycler.__init__.__globals__ }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ say.__globals__ }}",
    "{{ own.__code__ }}",
    "{{ own.func }}",
    "{{ gettext.__wrapped__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{% for each in items %}{{ loop._iterable }}{% endfor %}",
    "{% macro m() %}{% endmacro %}{{ m._func }}",
    "{% macro m() %}{{ caller.__globals__ }}{% endmacro %}{% call m() %}{% endcall %}",
    "{{ dict.mro() }}",
    "{{ dict.fromkeys(items).__class__ }}",
    "{{ lipsum(n=1) }}",
    # The keys, and what functions were made with.
    "{{ links.leave.__closure__[0].cell_contents }}",
    "{{ links.leave.__globals__ }}",
    "{{ links.leave.__defaults__ }}",
    "{{ made.args }}",
    "{{ made.keywords }}",
    "{{ made.func }}",
    # What others have: a cache of the process, the values of the next email.
    "{{ zone.clear_cache() }}",
    "{{ zone.no_cache('Europe/Berlin') }}",
    "{{ zone.from_file }}",
    "{{ now.tzinfo.__class__ }}",
    "{{ language._translations }}",
    "{{ language.__dict__ }}",
    "{{ language['_translations'] }}",
    "{{ language|attr('_translations') }}",
    "{{ digest.__dataclass_fields__ }}",
    "{{ items.append(3) }}",
    "{{ items.clear() }}",
    "{{ table.update(b=2) }}",
    "{{ table.pop('a') }}",
    # Time and memory.
    "{{ range(10**9) }}",
    "{{ range(1000000000) | list }}",
    "{{ 'x' * 1000000000 }}",
    "{{ 1000000000 * 'x' }}",
    "{{ [1] * 1000000000 }}",
    "{{ 9 ** 9 ** 9 }}",
]

MANY, END = "{% for _ in range(99999) %}", "{% endfor %}"

HEAVY = [
    # By a width.
    "{{ '%0300000d' % 1 }}",
    "{{ '%%%0300000d' % 1 }}",
    "{{ '%*d' % (300000, 1) }}",
    "{{ '%.300000f' % 1 }}",
    "{{ '%.*f' % (300000, 1) }}",
    "{{ '%(a(b)c)0300000d' % {'a(b)c': 1} }}",
    "{{ '%0300000d'|format(1) }}",
    "{{ '%(a)0300000d'|format(a=1) }}",
    "{{ ['%0300000d'] | map('format', 1) | list }}",
    "{{ gettext('%(a)0300000d', a=1) }}",
    "{{ ngettext('%(num)0300000d', '%(num)0300000d', 1) }}",
    "{{ '{:{}}'.format(1, 300000) }}",
    "{{ '{:300000}'.format(1) }}",
    "{{ ('{:300000}'|safe).format(1) }}",
    "{{ '{a:300000}'.format_map({'a': 1}) }}",
    "{{ ('{:300000}'|attr('format'))(1) }}",
    "{{ 'a'.ljust(300000) }}",
    "{{ 'a'.rjust(300000) }}",
    "{{ 'a'.center(300000) }}",
    "{{ 'a'.zfill(300000) }}",
    "{{ ('a'|safe).ljust(300000) }}",
    "{{ '\t'.expandtabs(300000) }}",
    "{{ ('\t' * 9999).expandtabs(9999) }}",
    "{{ ('a'|attr('ljust'))(300000) }}",
    "{% set wide = 'a'.ljust %}{{ wide(width) }}",
    "{{ 'a'.ljust(*[300000]) }}",
    "{{ 'a'.encode().ljust(300000) }}",
    "{{ (1).to_bytes(300000) }}",
    "{{ 'a'|center(300000) }}",
    "{{ 'a'|center(width=width) }}",
    "{{ 'abc'|map('center', 300000) | list }}",
    "{{ range(99999)|map('string')|map('center', 99999) | list }}",
    "{% for _ in range(9999)|map('string')|map('center', 9999) %}{{ loop.length }}{% endfor %}",
    "{{ items|batch(300000, 'x') | list | length }}",
    "{{ items|slice(300000) | list | length }}",
    "{{ 'a\nb'|indent(300000) }}",
    "{{ ('a\n' * 40000)|indent(9999) }}",
    "{{ [[1]]|tojson(indent=300000) }}",
    "{{ 1|round(300000, 'ceil') }}",
    # By what is put in many times.
    "{{ ('a' * 50000).replace('a', 'b' * 50000) }}",
    "{{ ('a' * 50000)|replace('a', 'b' * 50000) }}",
    "{{ ('a' * 50000).join('b' * 50000) }}",
    "{{ ('b' * 50000)|join('a' * 50000) }}",
    "{{ range(50000)|map('string')|join('a' * 50000) }}",
    "{{ ('a' * 50000).join(range(50000)|map('string')) }}",
    "{{ ('a' * 50000).translate({97: 'b' * 50000}) }}",
    "{{ ('{0}' * 30000).format('b' * 50000) }}",
    "{{ ('%(a)s' * 10000) % {'a': 'b' * 50000} }}",
    "{{ ('%s' * 3) % (doubled, doubled, doubled) }}",
    "{{ ('a ' * 40000)|wordwrap(1, wrapstring='b' * 50000) }}",
    "{{ ('a.example ' * 9000)|urlize(rel='b' * 50000) }}",
    # By the text of what holds one thing very often.
    "{{ doubled }}",
    "{{ doubled ~ '' }}",
    "{{ doubled|string }}",
    "{{ doubled|escape }}",
    "{{ doubled|tojson }}",
    "{{ doubled|pprint }}",
    "{{ doubled|join }}",
    "{{ '%s' % doubled }}",
    "{{ '%s' % (doubled,) }}",
    "{{ '{}'.format(doubled) }}",
    "{{ '{!r}'.format(doubled) }}",
    "{{ gettext('%(a)s', a=doubled) }}",
    "{{ {'a': doubled} }}",
    "{{ {'a': doubled}.values() }}",
    "{{ namespace(a=[doubled]) }}",
    "{% set n = namespace() %}{% set n.a = doubled %}{{ n }}",
    "{% call(link) own('x', doubled) %}a{% endcall %}",
    "{{ own('x', category=doubled, caller=say) }}",
    "{{ links.leave(doubled) }}",
    "{{ language.isolated(doubled) }}",
    "{{ [doubled] * 9 }}",
    "{{ table[doubled] }}",
    "{{ [table]|map(attribute=doubled)|list }}",
    "{{ items|map(doubled)|list }}",
    "{{ items|select((doubled,))|list }}",
    "{{ [table]|rejectattr(doubled)|list }}",
    # By what is rendered.
    f"{MANY}{MANY}abc{END}{END}",
    f"{{% set x %}}{MANY}{MANY}abc{END}{END}{{% endset %}}",
    f"{{% set x %}}{MANY}{MANY}{{{{ '' }}}}{END}{END}{{% endset %}}",
    f"{MANY}{{{{ 'a'.ljust(99999) }}}}{END}",
]

WIDE = "{% set s = 'A' * 99999 %}{% set a = [s, s, s, s, s, s, s, s, s, s, s] %}"
LONG_FORMAT = "{% set f = ('%999d' * 10000) ~ ('%999d' * 10000) %}"
NESTED = (
    "{% set n = namespace(x=range(40000)|list) %}"
    "{% for _ in range(300) %}{% set n.x = [n.x] %}{% endfor %}"
)

OF_DAYS = [
    LONG_FORMAT + "{{ now.strftime(f) }}",
    LONG_FORMAT + "{{ now.strftime(format=f) }}",
    LONG_FORMAT + "{{ now.date().strftime(f) }}",
    LONG_FORMAT + "{{ now.time().strftime(f) }}",
    LONG_FORMAT + "{{ now.min.strftime(f) }}",
    LONG_FORMAT + "{{ (now|attr('strftime'))(f) }}",
    LONG_FORMAT + "{{ [now]|map(attribute='strftime')|first is callable }}"
    "{% for each in [now]|map(attribute='strftime') %}{{ each(f) }}{% endfor %}",
    LONG_FORMAT + "{% set told = now.strftime %}{{ told(*[f]) }}",
    LONG_FORMAT + "{{ ('{:' ~ f ~ '}').format(now) }}",
    LONG_FORMAT + "{{ '{:{}}'.format(now, f) }}",
    LONG_FORMAT + "{{ '{a:{b}}'.format_map({'a': now.date(), 'b': f}) }}",
    LONG_FORMAT + "{{ (('{:' ~ f ~ '}')|safe).format(now.time()) }}",
    "{{ now.strftime('%999d') }}",
    "{{ now.strftime('%-999d%^0999A') }}",
    "{{ now.strptime('x' * 9999, 'x' * 9999) }}",
]
"""By how days and times are written, or read."""

HEAVY += [
    # By many widths, each of which is allowed.
    "{{ ('%(a)99999d' * 4000) % {'a': 1} }}",
    "{{ ('%(a)99999d' * 4000)|format(a=1) }}",
    "{{ ('%(a).99999f' * 2000) % {'a': 1} }}",
    "{{ ('%99999d' * 300) % items_300 }}",
    "{{ ('%99999d' * 300).encode() % items_300 }}",
    "{{ gettext('%(a)99999d' * 900, a=1) }}",
    "{{ ngettext('%(num)99999d' * 800, 'x', 1) }}",
    "{{ ('{0:>99999}' * 400).format(1) }}",
    "{{ ('{0!r:>99999}' * 400).format('x') }}",
    # By the text of a list, or by copies of what it holds.
    WIDE + "{{ [a, a]|safe }}",
    WIDE + "{{ a|sort }}",
    WIDE + "{{ a|sort(reverse=true) }}",
    WIDE + "{{ a|unique|list }}",
    WIDE + "{{ [{'a': a}, {'a': a}]|groupby('a') }}",
    WIDE + "{{ {1: a}|dictsort(by='value') }}",
    WIDE + "{{ [a]|map('sort')|list }}",
    # By a list that is counted, not written out.
    "{{ range(99999)|join('x' * 9999) }}",
    # By margins.
    NESTED + "{{ n.x|tojson(indent=9) }}",
    NESTED + "{{ n.x|tojson(9) }}",
    NESTED + "{{ n.x|pprint }}",
    "{{ {'x' * 9999: range(9999)|list}|pprint }}",
    # By what Babel makes of a value.
    "{{ language.number('9e9999999') }}",
    "{{ language.number('9E9999999') }}",
    "{{ language.number('9' * 5000) }}",
    "{{ language.number(number='9e9999999') }}",
    "{{ language.listed(['a'] * 9999) }}",
    "{{ language.listed('a' * 9999) }}",
    "{{ language.listed(range(9999)) }}",
    "{{ language.named(['a'] * 9999) }}",
    "{{ language.named(*(['a'] * 9999)) }}",
]

DOUBLING = [
    "'xx' {% set n.x = n.x ~ n.x %}",
    "'xx' {% set n.x = n.x + n.x %}",
    "[1] {% set n.x = n.x + n.x %}",
    "9 {% set n.x = n.x * n.x %}",
    "'xx' {% set n.x = '%s%s' % (n.x, n.x) %}",
    "'xx' {% set n.x = '{0}{0}'.format(n.x) %}",
    "'xx' {% set n.x = [n.x, n.x]|join %}",
    "'xx' {% set x %}{{ n.x }}{{ n.x }}{% endset %}{% set n.x = x %}",
    "'xx' {% set n.x = m(n.x) %}",
]
"""What a variable is at first, and what is done with it again and again."""

HEAVY += [
    "{% macro m(x) %}{{ x }}{{ x }}{% endmacro %}"
    f"{{% set n = namespace(x={begin}) %}}{{% for _ in range(40) %}}{again}{END}"
    for begin, _, again in (each.partition(" ") for each in DOUBLING)
]


def doubled() -> list[object]:
    """A list whose text has 10**15 characters, and that takes no memory."""
    made: list[object] = ["a" * 1000]
    for _ in range(40):
        made = [made, made]
    return made


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_pushed_template_can_access_only_its_values(
    sandbox: Environment, built_templates: Path, attack: str
) -> None:
    given = values(built_templates)
    template = sandbox.from_string(attack)
    with pytest.raises((SecurityError, UndefinedError, OverflowError, TypeError)):
        template.render(given)
    assert given["items"] == [1, 2]
    assert given["table"] == {"a": 1}


@pytest.mark.parametrize("attack", HEAVY)
def test_attack_pushed_template_cannot_exhaust_memory_with_text(
    sandbox: Environment, built_templates: Path, attack: str
) -> None:
    """Nor does it with HTML, which is escaped. It is refused before the text is made."""
    for text in (attack, f"{{% autoescape true %}}{attack}{{% endautoescape %}}"):
        template, given = sandbox.from_string(text), values(built_templates)
        with limited_memory(), pytest.raises(SecurityError):
            template.render(given)


@pytest.mark.parametrize("attack", OF_DAYS)
def test_attack_pushed_template_cannot_write_dates_of_arbitrary_length(
    sandbox: Environment, built_templates: Path, attack: str
) -> None:
    template, given = sandbox.from_string(attack), values(built_templates)
    with limited_memory(), pytest.raises(SecurityError):
        template.render(given)


@contextmanager
def limited_memory() -> Iterator[None]:
    """Fails if something takes much more memory than one text of the greatest length."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + 100_000_000
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize(
    "attack", ["{{ links }}", "{{ links.leave }}", "{{ digest }}", "{{ own }}"]
)
def test_attack_rendered_values_reveal_no_key(
    sandbox: Environment, built_templates: Path, attack: str
) -> None:
    assert KEY.decode() not in sandbox.from_string(attack).render(values(built_templates))


def test_attack_imported_template_cannot_exhaust_memory_with_text(
    tmp_path: Path,
) -> None:
    (tmp_path / "long.txt").write_text(f"{MANY}{{{{ 'a'.ljust(99999) }}}}{END}")
    made = environment(tmp_path, kind=SandboxedTemplates)
    for text in ("{% import 'long.txt' as long %}", "{% from 'long.txt' import x %}"):
        with pytest.raises(SecurityError):
            made.from_string(text).render()


def test_attack_template_cannot_replace_the_translation_function(sandbox: Environment) -> None:
    """Jinja's own `_` calls whatever is called `gettext`, and does not ask the sandbox."""
    for text in (
        "{% set gettext = 'a'.ljust %}{{ _(30000000) }}",
        "{% set gettext = 'a'.ljust %}{{ _(9) }}",
    ):
        with pytest.raises((SecurityError, UndefinedError)):
            sandbox.from_string(text).render()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{{ now.strftime('%-d %B %Y, %H:%M') }}", "1 January 2026, 00:00"),
        ("{{ '{:%Y-%m-%d}'.format(now) }}", "2026-01-01"),
        ("{{ '%5.1f%%|%-6s|%03d' % (99.5, 'ab', 7) }}", " 99.5%|ab    |007"),
        ("{{ ('%s %s' % ('a' * 1000, 'b'))|length }}", "1002"),
        ("{{ ['b', 'A', 'c']|sort|join(',') }}", "A,b,c"),
        ("{{ ['b', 'B', 'c']|unique|join(',') }}", "b,c"),
        ("{{ {'b': 1, 'a': 2}|dictsort|length }}", "2"),
        ("{{ [{'a': 1}, {'a': 2}]|groupby('a')|length }}", "2"),
        ("{{ {'a': [1, {'b': 2}]}|tojson(indent=2)|length }}", "48"),
        ("{{ {'a': [1, 2]}|pprint|safe }}", "{'a': [1, 2]}"),
        ("{{ language.number(1234) }} {{ language.number('12') }}", "1,234 12"),
        ("{{ language.listed(['a', 'b', 'c']) }}", "a, b and c"),
        ("{{ range(5)|join('-') }}", "0-1-2-3-4"),
        ("{{ '<b>'|safe }}", "<b>"),
        ("{{ _('Yesterday') }}", "Yesterday"),
    ],
)
def test_typical_templates_stay_within_the_sandbox_limits(
    sandbox: Environment, built_templates: Path, text: str, wanted: str
) -> None:
    assert sandbox.from_string(text).render(values(built_templates)) == wanted


def test_attack_pushed_catalogue_cannot_exhaust_memory_with_text(
    sandbox: Environment,
) -> None:
    catalogue = GNUTranslations()
    vars(catalogue).update(_catalog={"%(a)s": "%(a)0300000d"}, plural=lambda _: 0)
    language = Language("de", Locale("de"), catalogue)
    with pytest.raises(SecurityError):
        sandbox.from_string("{% trans a=1 %}{{ a }}{% endtrans %}").render(language.values())


@pytest.mark.parametrize(
    "name", ["../secret.txt", "/etc/passwd", "parts/../../secret.txt", "..\\secret.txt"]
)
def test_attack_pushed_template_can_include_only_its_own_files(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "templates" / "parts").mkdir(parents=True)
    made = environment(tmp_path / "templates", kind=SandboxedTemplates)
    with pytest.raises(TemplateNotFound):
        made.from_string("{% include name %}").render(name=name)


@pytest.mark.parametrize(
    "text",
    [
        "{% include 'digest/subject.txt' %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ ''.__class__.__mro__ }}",
    ],
)
def test_attack_failing_or_endless_template_is_a_rendering_failure(
    built_templates: Path, tmp_path: Path, text: str
) -> None:
    """Of the whole email: the process goes on, and the run is made otherwise or waits."""
    for file in built_templates.rglob("*.*"):
        if file.is_file():
            target = tmp_path / file.relative_to(built_templates)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    (tmp_path / "digest" / "subject.txt").write_text(text)
    renderer = JinjaRenderer(tmp_path, kind=SandboxedTemplates)
    links = SignedLinks(base_url="https://example.com", keys=lambda: LinkKeys({"k1": KEY}))
    with pytest.raises(RenderingFailed):
        renderer.render(
            compose([an_event()], max_blocks=1),
            a_subscriber(),
            links.links(a_link()),
            DAILY,
            due_at=NOW,
        )


def test_sandboxed_and_unsandboxed_emails_are_identical(built_templates: Path) -> None:
    links = SignedLinks(base_url="https://example.com", keys=lambda: LinkKeys({"k1": KEY}))
    digest = compose(
        [
            an_event(f"e{each}", category=category, entity_id=f"post{each % 4}")
            for each, category in enumerate(["comment", "like", "mention", "reply", "article"] * 3)
        ],
        max_blocks=3,
    )
    emails = [
        JinjaRenderer(built_templates, kind=kind).render(
            digest, a_subscriber(), links.links(a_link()), DAILY, due_at=NOW
        )
        for kind in (None, SandboxedTemplates)
    ]
    assert emails[0] == emails[1]
