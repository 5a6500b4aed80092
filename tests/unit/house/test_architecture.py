"""Tests of the import rules in docs/architecture.md, and of side effects at import."""

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from proofs.walk.hops import PAGE, missing

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "layers" / "gazette" / "python"
STDLIB = "the standard library"
LIBRARIES = "third-party libraries"
TOPS = {
    "functions": ROOT,
    "gazette_cdk": ROOT / "infra",
    "gazette_support": ROOT / "cli",
    "gazette_cli": ROOT / "cli",
}
"""The packages outside the layer, and the folder that contains each."""

SHIPPED = {"gazette": PACKAGE, **TOPS}
UNSHIPPED = dict.fromkeys(("benchmarks", "demo", "proofs", "tests"), ROOT)

_ROOT = ("conflicts", "runs", "time_budget", "context")
_SHARED = ("subscribers", *_ROOT)
_MIDDLE = ("routing", "occurrences", *_SHARED)

# The packages of `steps` that each package of `steps` may import.
STAGES: dict[str, tuple[str, ...]] = {
    "": _ROOT,
    ".subscribers": ("subscribers", *_ROOT),
    ".routing": ("routing", *_SHARED),
    ".occurrences": ("occurrences", *_SHARED),
    ".ingest": ("ingest", *_MIDDLE),
    ".content": ("content", "fanout", *_MIDDLE),
    ".fanout": ("fanout", *_MIDDLE),
    ".delivery": ("delivery", *_MIDDLE),
    ".feedback": ("feedback", *_MIDDLE),
    ".outbox": ("outbox",),
    ".sweep": ("sweep", "delivery", "fanout", *_MIDDLE),
    ".preferences": ("preferences", "ingest", "delivery", *_MIDDLE),
    ".api": ("api", "preferences", "ingest", *_MIDDLE),
    ".support": ("support", "delivery", "fanout", *_MIDDLE),
}
"""The permitted imports between the packages of `steps`. The empty name is the root of `steps`."""

_A_DOZEN = 13

# The permitted imports by module prefix. The longest matching prefix applies to a module.
ALLOWED: dict[str, frozenset[str]] = {
    "gazette": frozenset(),
    "gazette.domain": frozenset({STDLIB, "gazette.domain"}),
    **{
        f"gazette.steps{stage}": frozenset(
            {STDLIB, "gazette.domain", *(f"gazette.steps.{below}" for below in allowed)}
        )
        for stage, allowed in STAGES.items()
    },
    "gazette.adapters": frozenset({STDLIB, LIBRARIES, "gazette.domain", "gazette.adapters"}),
    "gazette.settings": frozenset({STDLIB, "gazette.domain", "gazette.settings"}),
    "gazette.observability": frozenset({STDLIB, LIBRARIES, "gazette.domain.errors"}),
    "gazette.run_metrics": frozenset(
        {
            STDLIB,
            "gazette.domain",
            "gazette.observability",
            "gazette.steps.delivery.types",
            "gazette.steps.feedback.feedback",
            "gazette.steps.sweep.audit",
            "gazette.steps.sweep.unknown",
        }
    ),
    "gazette.http": frozenset({STDLIB}),
    "gazette.bootstrap": frozenset({STDLIB, LIBRARIES, "gazette"}),
    "functions": frozenset(
        {
            STDLIB,
            "aws_lambda_powertools",
            "gazette.http",
            "gazette.bootstrap",
            "gazette.observability",
            "gazette.run_metrics",
            "gazette.domain.errors",
            "gazette.domain.subscribers.overview",  # the status that the preference page shows
        }
    ),
    "gazette_support": frozenset(),
    "gazette_support.domain": frozenset({STDLIB, "gazette.domain", "gazette_support.domain"}),
    "gazette_support.steps": frozenset(
        {
            STDLIB,
            "gazette.domain",
            *(f"gazette.steps.{below}" for below in STAGES[".support"]),
            "gazette.steps.outbox",  # a command publishes batches as the function does
            "gazette_support.domain",
            "gazette_support.steps",
        }
    ),
    "gazette_support.adapters": frozenset(
        {
            STDLIB,
            LIBRARIES,
            "gazette.domain",
            "gazette.adapters",
            "gazette_support.domain",
            "gazette_support.adapters",
        }
    ),
    "gazette_support.bootstrap": frozenset({STDLIB, LIBRARIES, "gazette", "gazette_support"}),
    **dict.fromkeys(
        ("gazette_cdk.folders", "gazette_cdk.stacks.names", "gazette_cdk.stacks.version"),
        frozenset({STDLIB}),
    ),
    "gazette_cdk.concurrency": frozenset(
        {
            STDLIB,
            "gazette.domain.delivery.batching",
            "gazette.domain.delivery.pace",
            "gazette.domain.delivery.streams",
        }
    ),
    "gazette_cdk": frozenset(
        {
            STDLIB,
            "aws_cdk",
            "constructs",
            "gazette_cdk",
            "gazette.settings",
        }
    ),
    "gazette_cdk.constructs.queues": frozenset(
        {STDLIB, "aws_cdk", "constructs", "gazette_cdk", "jsii"}  # implements an interface
    ),
    "gazette_cdk.stage.checks.addresses": frozenset(
        {
            STDLIB,
            "gazette_cdk",
            "gazette.domain.subscribers.addresses",  # senders and events have the same rules
        }
    ),
    **dict.fromkeys(
        ("gazette_cdk.stage.content", "gazette_cdk.stage.links", "gazette_cdk.stage.owner"),
        frozenset(
            {
                STDLIB,
                "gazette_cdk",
                "gazette.settings",
                "gazette.domain.links",  # hosts of settings and of events have the same rules
            }
        ),
    ),
    "gazette_cdk.assets": frozenset(
        {
            STDLIB,
            "aws_cdk",
            "babel",
            "jinja2",
            "jsii",
            "premailer",
            "gazette.domain",  # synthesis renders an email of each kind
            "gazette_cdk",
            "gazette.adapters.rendering",  # synthesis reads templates like the functions
            "gazette.adapters.contract",  # synthesis reads data schemas like ingest
            "gazette.adapters.templates",  # the files of a version
            "gazette.settings.ranges",
            "jsonschema",
        }
    ),
    "gazette_cli": frozenset(
        {
            STDLIB,
            LIBRARIES,
            "gazette",
            "gazette_support",
            "gazette_cli",
            "gazette_cdk.folders",
            "gazette_cdk.concurrency",  # the forecasts and `gazette doctor`
            "gazette_cdk.stacks.names",  # `gazette doctor` and the permissions of commands
            "gazette_cdk.stacks.version",  # `gazette --version` and `gazette doctor`
        }
    ),
    "gazette_cli.shared.stages": frozenset(
        {
            STDLIB,
            "gazette",
            "gazette_cli",
            "gazette_cdk.folders",
            "gazette_cdk.stage",
            "gazette_cdk.stages",
        }
    ),
    "gazette_cli.init.files": frozenset(
        {
            STDLIB,
            "gazette_cdk.assets",
            "gazette_cdk.folders",
            "gazette_cdk.stacks.version",
            "jinja2",
        }
    ),
    "gazette_cli.rollback.versions": frozenset(
        {
            STDLIB,
            LIBRARIES,
            "gazette",
            "gazette_cli",
            "gazette_cdk.stacks.version",
            "gazette_cdk.topology",
        }
    ),
    "gazette_cli.events.schemas": frozenset(
        {STDLIB, "gazette", "gazette_cli", "gazette_cdk.assets", "gazette_cdk.folders"}
    ),
    "gazette_cli.templates.building": frozenset(
        {STDLIB, LIBRARIES, "gazette", "gazette_cli", "gazette_cdk.assets", "gazette_cdk.folders"}
    ),
}

UNREACHED = {
    "gazette.bootstrap.support.preview": "a function may preview the next email of a reader",
    "gazette.adapters.aws.dead_letters.redrive": "the redrive with move tasks of SQS",
}
"""The packages and modules of the layer that no handler imports, and the reason to ship each."""

NAMED_EXCEPTIONS = {
    "gazette.settings.environment": [
        "os.environ"
    ],  # a default argument, which does not read the environment
    "gazette_cdk": ["os.environ"],  # the CDK's libraries search for Node at import
}
MAKERS = ("during_init", "client", "get_session", "logger", "metrics", "renderer")
_OUTER = (ast.stmt, ast.excepthandler, ast.match_case)
"""The nodes that contain statements."""

AT_IMPORT = ("os.environ", "os.getenv", "boto3.client", "boto3.resource", "boto3.Session")


def modules(tops: Mapping[str, Path]) -> dict[str, ast.Module]:
    """Return the syntax tree of every module in these packages, by dotted name.

    `tops` maps the name of a package to the folder that contains it.
    """
    paths = ((path, start) for top, start in tops.items() for path in (start / top).rglob("*.py"))
    return {dotted(path.relative_to(start)): ast.parse(path.read_text()) for path, start in paths}


def dotted(path: Path) -> str:
    """Return `gazette.domain.delivery.run` for `gazette/domain/delivery/run.py`."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_within(name: str, outer: str) -> bool:
    """Return True for `gazette.domain.delivery.run` within `gazette.domain`."""
    return f"{name}.".startswith(f"{outer}.")


@cache
def statements(tree: ast.AST) -> list[ast.AST]:
    """Return a tree and all of its statements. `ast.walk` also yields the expressions."""
    nodes = [tree]
    for node in nodes:
        nodes += [child for child in ast.iter_child_nodes(node) if isinstance(child, _OUTER)]
    return nodes


def imports(tree: ast.AST, known: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield every imported module, including imports in functions and imports only for types.

    For `from a import b`, yield `a.b` if it is a module, and otherwise `a`. For a relative import,
    yield `.`.
    """
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                yield "."
                continue
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module


def forbidden(name: str, tree: ast.AST, known: frozenset[str] = frozenset()) -> list[str]:
    """Return the imports of the module `name` that ALLOWED does not permit."""
    home = max((prefix for prefix in ALLOWED if is_within(name, prefix)), key=len)
    return [
        imported
        for imported in imports(tree, known)
        if not any(is_covered(imported, rule) for rule in ALLOWED[home])
    ]


def is_covered(imported: str, rule: str) -> bool:
    """Return True if `rule` permits the import of the module `imported`."""
    top = imported.partition(".")[0]
    match rule:
        case "the standard library":
            return top in sys.stdlib_module_names
        case "third-party libraries":
            return top not in {*sys.stdlib_module_names, *TOPS, "", "gazette"}
        case _:
            return is_within(imported, rule)


def reached(trees: Mapping[str, ast.AST]) -> set[str]:
    """Return the handlers, and every module that they import directly or indirectly.

    The import of a module also imports the packages that contain it.
    """
    known = frozenset(trees)
    names: set[str] = set()
    waiting = [name for name in trees if is_within(name, "functions")]
    while waiting:
        name = waiting.pop()
        if name in known and name not in names:
            names.add(name)
            waiting += [name.rpartition(".")[0], *imports(trees[name], known)]
    return names


def cycle(trees: Mapping[str, ast.AST]) -> list[str]:
    """Return modules that import each other in a circle, or an empty list."""
    known = frozenset(trees)
    graph = {name: set(imports(tree, known)) for name, tree in trees.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as err:
        return list(err.args[1])
    return []


def acts_at_import(tree: ast.Module) -> list[str]:
    """Return the names in AT_IMPORT that the module uses during its import.

    The body of a function does not run during the import, but its decorators and defaults do.
    """
    return [
        found
        for node in run_at_import(tree)
        if isinstance(node, ast.Attribute) and (found := ast.unparse(node)) in AT_IMPORT
    ]


def built_at_import(tree: ast.Module) -> list[str]:
    """Return the calls during the import to functions that build objects."""
    return [
        ast.unparse(node)
        for node in run_at_import(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (node.func.id in MAKERS or node.func.id.startswith("build"))
    ]


def run_at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield `node` and all nodes below it, except the bodies of functions."""
    yield node
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            below: list[ast.AST] = [
                *node.decorator_list,
                *node.args.defaults,
                *(default for default in node.args.kw_defaults if default),
            ]
        case ast.Lambda():
            below = [*node.args.defaults]
        case _:
            below = list(ast.iter_child_nodes(node))
    for child in below:
        yield from run_at_import(child)


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Return the syntax trees of all shipped modules."""
    return modules(SHIPPED)


def test_modules_import_only_allowed_packages(
    trees: dict[str, ast.Module],
) -> None:
    names = frozenset(trees)
    found = {name: forbidden(name, tree, names) for name, tree in trees.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_layer_contains_only_modules_that_a_handler_reaches(trees: dict[str, ast.Module]) -> None:
    unreached = {name for name in trees if is_within(name, "gazette")} - reached(trees)
    assert sorted(unreached) == sorted(
        name for name in trees if any(is_within(name, exception) for exception in UNREACHED)
    )


def test_packages_contain_at_most_about_a_dozen_modules(trees: dict[str, ast.Module]) -> None:
    packages = {name.rpartition(".")[0] for name in trees}
    beside = Counter(name.rpartition(".")[0] for name in trees if name not in packages)
    assert [room for room, modules in beside.items() if modules > _A_DOZEN] == []


def test_every_function_named_in_architecture_exists() -> None:
    assert missing(PAGE.read_text()) == []


def test_there_are_no_circular_imports(trees: dict[str, ast.Module]) -> None:
    assert cycle(trees | modules(UNSHIPPED)) == []


def test_modules_have_no_side_effects_at_import(trees: dict[str, ast.Module]) -> None:
    found = {name: acts_at_import(tree) for name, tree in trees.items()}
    assert {name: acts for name, acts in found.items() if acts} == NAMED_EXCEPTIONS


def test_only_last_line_of_handler_builds_objects_at_import(
    trees: dict[str, ast.Module],
) -> None:
    """The objects are built only in processes that Lambda starts (tests/functions/test_init.py)."""
    handlers = {name: tree for name, tree in trees.items() if name.startswith("functions.")}
    built = {name: built_at_import(tree) for name, tree in trees.items()}
    assert {name: found for name, found in built.items() if found} == {
        name: [ast.unparse(tree.body[-1])] for name, tree in handlers.items()
    }
    assert all(built[name][0].startswith("during_init(build") for name in handlers)


def test_environment_is_read_only_as_default_argument_in_settings(
    trees: dict[str, ast.Module],
) -> None:
    defaults = [
        ast.unparse(default)
        for node in ast.walk(trees["gazette.settings.environment"])
        if isinstance(node, ast.FunctionDef) and node.name == "from_env"
        for default in node.args.defaults
    ]
    assert defaults == ["os.environ"]


def test_every_package_was_found(trees: dict[str, ast.Module]) -> None:
    for part in ALLOWED:
        assert any(is_within(name, part) for name in trees), part
    assert len(trees) > 30


# Tests that the checks detect violations.


@pytest.mark.parametrize(
    ("name", "snippet", "found"),
    [
        ("gazette.domain.bad", "import boto3", "boto3"),
        (
            "gazette.domain.bad",
            "from gazette.steps.ingest.ingest import ingest",
            "gazette.steps.ingest.ingest",
        ),
        ("gazette.domain.bad", "def f():\n    import pydantic", "pydantic"),
        ("gazette.domain.bad", "from . import model", "."),
        ("gazette.domain.bad", "from gazette import settings", "gazette.settings"),
        ("gazette.steps.bad", "from gazette.adapters import runs", "gazette.adapters"),
        ("gazette.steps.bad", "import gazette.settings", "gazette.settings"),
        ("gazette.steps.routing.bad", "import gazette.steps.ingest.x", "gazette.steps.ingest.x"),
        ("gazette.steps.feedback.bad", "import gazette.steps.sweep.x", "gazette.steps.sweep.x"),
        ("gazette.steps.runs", "import gazette.steps.routing.x", "gazette.steps.routing.x"),
        ("gazette.adapters.bad", "from gazette.steps import ingest", "gazette.steps"),
        ("gazette.adapters.bad", "import gazette.settings", "gazette.settings"),
        ("gazette.settings", "from gazette.adapters import runs", "gazette.adapters"),
        (
            "gazette.observability",
            "import gazette.domain.delivery.run",
            "gazette.domain.delivery.run",
        ),
        ("gazette.bootstrap.bad", "import gazette_cdk.stages", "gazette_cdk.stages"),
        ("functions.bad.handler", "import boto3", "boto3"),
        ("functions.bad.handler", "import gazette.domain.model", "gazette.domain.model"),
        (
            "functions.bad.handler",
            "import gazette.adapters.dynamodb.runs",
            "gazette.adapters.dynamodb.runs",
        ),
        ("gazette_cdk.bad", "import gazette.domain.delivery.run", "gazette.domain.delivery.run"),
        ("gazette_cdk.bad", "import boto3", "boto3"),
        (
            "functions.bad.handler",
            "import gazette_support.steps.batches",
            "gazette_support.steps.batches",
        ),
        ("gazette.bootstrap.bad", "import gazette_support.domain", "gazette_support.domain"),
        ("gazette_support.domain.bad", "import gazette.steps.runs", "gazette.steps.runs"),
        ("gazette_support.steps.bad", "import gazette.adapters.x", "gazette.adapters.x"),
        ("gazette_support.bootstrap.bad", "import gazette_cli.main", "gazette_cli.main"),
        ("gazette_cli.bad", "import gazette_cdk.stages", "gazette_cdk.stages"),
        ("gazette_cli.templates.building", "import gazette_cdk.topology", "gazette_cdk.topology"),
        ("gazette_cli.bad", "import functions.ingest.handler", "functions.ingest.handler"),
        ("gazette.adapters.bad", "import gazette_cli.main", "gazette_cli.main"),
        ("gazette.domain_like", "import json", "json"),
    ],
)
def test_forbidden_import_is_detected(name: str, snippet: str, found: str) -> None:
    known = frozenset({"gazette.settings"})
    assert forbidden(name, ast.parse(snippet), known) == [found]


def test_type_checking_import_counts_as_import() -> None:
    tree = ast.parse("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import boto3")
    assert forbidden("gazette.domain.bad", tree) == ["boto3"]


def test_modules_behind_an_unreached_module_are_unreached() -> None:
    sources = {
        "functions.a.handler": "from gazette.steps.a import go",
        "gazette": "",
        "gazette.steps": "import gazette.http",
        "gazette.steps.a": "def go():\n    from gazette.domain import b",
        "gazette.domain": "",
        "gazette.domain.b": "",
        "gazette.domain.c": "import gazette.domain.d",
        "gazette.domain.d": "",
        "gazette.http": "",
    }
    names = reached({name: ast.parse(source) for name, source in sources.items()})
    assert sources.keys() - names == {"gazette.domain.c", "gazette.domain.d"}


def test_circular_import_is_detected() -> None:
    one, two = ast.parse("from gazette import two"), ast.parse("import gazette.one")
    assert set(cycle({"gazette.one": one, "gazette.two": two})) == {"gazette.one", "gazette.two"}


@pytest.mark.parametrize(
    "snippet",
    [
        "import os\nSTAGE = os.environ['STAGE']",
        "import os\ndef f(stage=os.getenv('STAGE')): ...",
        "import boto3\nclass A:\n    client = boto3.client('sqs')",
        "import boto3\nf = lambda client=boto3.client('sqs'): client",
        "import boto3\n@decorated(boto3.resource('dynamodb'))\ndef f(): ...",
    ],
)
def test_side_effect_at_import_is_detected(snippet: str) -> None:
    assert len(acts_at_import(ast.parse(snippet))) == 1


@pytest.mark.parametrize(
    "snippet", ["SQS = client('sqs')", "class A:\n    a = build()", "f = lambda a=build_tick(): a"]
)
def test_object_built_at_import_is_detected(snippet: str) -> None:
    assert len(built_at_import(ast.parse(snippet))) == 1


def test_side_effect_in_function_is_allowed() -> None:
    assert acts_at_import(ast.parse("def f():\n    return boto3.client('sqs')")) == []
