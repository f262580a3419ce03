"""The parts of the Python package import downwards, and its modules stand in no circle."""

from pathlib import Path

from .imports import arrows_of, by_name, circles_of, late_imports_of
from .pages import table, ticked

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "coquina"
LATE = Path(__file__).with_name("late_imports.txt")
#: What an import in a function is good for; it is at the top of its module else.
REASONS = ("an optional library", "start-up")
LATE_MAX = 40


class Parts:
    """The parts of the package: which modules each holds, and which parts it may use."""

    def __init__(self, page):
        self.of_module, self.may_use = {}, {}
        for part, modules, may_use in table(page, "Arrows between the parts of the Python package"):
            (name,) = ticked(part)
            self.may_use[name] = {name, *ticked(may_use)}
            for module in ticked(modules):
                assert module not in self.of_module, f"{module} is in two parts"
                self.of_module[module.rstrip("/")] = name

    def part(self, module):
        """The part of a module; a package as a whole is what its `__init__` says."""
        top = module.partition(".")[2].partition(".")[0] or "__init__"
        return self.of_module["_core" if top == "_core" else top]

    def wrong(self, arrows):
        """The arrows that the table does not allow."""
        return {
            f"{module} -> {used}"
            for module, all_used in arrows.items()
            for used in all_used
            if self.part(used) not in self.may_use[self.part(module)]
        }


def test_parts_import_only_what_the_table_allows():
    parts = Parts((ROOT / "ARCHITECTURE.md").read_text())
    assert not parts.wrong(arrows_of(PACKAGE))


def test_parts_use_parts_above_them_in_the_table_only():
    parts = Parts((ROOT / "ARCHITECTURE.md").read_text())
    names = list(parts.may_use)
    for at, name in enumerate(names):
        assert parts.may_use[name] <= {*names[: at + 1]}, name


def test_every_module_is_in_one_part():
    parts = Parts((ROOT / "ARCHITECTURE.md").read_text())
    tops = {path.stem for path in PACKAGE.glob("*.py*")} | {
        path.parent.name for path in PACKAGE.glob("*/*.py")
    }
    tops = {"_core" if name.startswith("_core") else name for name in tops}
    assert set(parts.of_module) == tops


def test_modules_stand_in_no_circle():
    assert not circles_of(arrows_of(PACKAGE))


def late_imports(text):
    """The rows of a list: what a module imports in functions, below why."""
    rows, reason = {}, None
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        if line.endswith(":"):
            reason = line
            assert reason.startswith(REASONS), line
        else:
            module, _, used = line.strip().partition(" -> ")
            assert (module, used) not in rows, line
            rows[module, used] = reason
    assert None not in rows.values()
    return rows


def test_imports_in_functions_are_those_of_the_list():
    """Each costs a reader, who does not see it at the top, and may hide a circle."""
    listed = set(late_imports(LATE.read_text()))
    found = late_imports_of(PACKAGE)
    assert found - listed == set(), "new; is it for start-up time, or an optional library?"
    assert listed - found == set(), "no longer so; take them from the list"
    assert len(listed) < LATE_MAX


def test_an_import_in_a_function_is_found(tmp_path):
    text = "import json\ndef f():\n    import os.path as p\n    def g(): from .tables import rows"
    package = world(tmp_path, array=text)
    assert late_imports_of(package) == {
        ("coquina.array", "os.path"),
        ("coquina.array", "coquina.tables.rows"),
    }
    assert late_imports("# said\n\nstart-up, x:\n  a -> b\n") == {("a", "b"): "start-up, x:"}


def test_modules_are_imported_by_name_where_names_are_given_only():
    """Who hides an import from these tests does so by a name; `remote_sources` imports what a user names."""
    assert by_name(PACKAGE) == {"coquina", "coquina.providers", "coquina.remote_sources"}


PAGE = """
## Arrows between the parts of the Python package

| Part | Modules | May use |
|---|---|---|
| `_core` | `_core` | nothing of ours |
| `arrays` | `array` | `_core` |
| `tables` | `tables/` | `_core`, `arrays` |
| `coquina` | `__init__` | `arrays`, `tables` |

## Another
"""


def world(folder, **texts):
    """A package with these modules; `__` in a name is a folder."""
    package = folder / "coquina"
    (package / "tables").mkdir(parents=True)
    for name in ("__init__", "tables____init__", "array", "tables__rows", "tables__sorting"):
        (package / f"{name.replace('__', '/', 1) if name != '__init__' else name}.py").write_text(
            texts.get(name, "")
        )
    return package


def test_an_upward_import_is_found_wherever_it_stands(tmp_path):
    parts = Parts(PAGE)

    def wrong(folder, text):
        return parts.wrong(arrows_of(world(tmp_path / folder, array=text)))

    assert wrong("a", "from . import _core\nfrom ._core import x\nimport numpy.tables\n") == set()
    assert wrong("b", "from .tables.rows import Rows\n") == {"coquina.array -> coquina.tables.rows"}
    assert wrong("c", "def f():\n    from .tables import rows\n") == {"coquina.array -> coquina.tables.rows"}
    assert wrong("d", "class A:\n    def f(self): import coquina.tables\n") == {
        "coquina.array -> coquina.tables"
    }
    assert wrong("e", "def f():\n    import coquina as cq\n") == {"coquina.array -> coquina"}
    only_checked = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .tables import rows\n"
    assert wrong("f", only_checked) == set()
    assert wrong("g", f"{only_checked}else:\n    import coquina\n") == {"coquina.array -> coquina"}


def test_what_the_table_of_names_names_is_an_arrow_of_the_package(tmp_path):
    package = world(tmp_path)
    (package / "names.py").write_text('TABLE = {"dask": "coquina.tables.rows", "tables.sorting": "f"}\n')
    assert arrows_of(package)["coquina"] == {"coquina.tables.rows", "coquina.tables.sorting"}
    assert by_name(package) == set()
    (package / "array.py").write_text('x = [import_module(f"polars.{y}"), importlib.import_module("dask")]\n')
    assert by_name(package) == set()
    for hidden in ('import_module("coquina.array")', "import_module(name)", 'import_module(f".{x}", y)'):
        (package / "array.py").write_text(f"def f(): return {hidden}\n")
        assert by_name(package) == {"coquina.array"}


def test_a_circle_is_found_through_imports_inside_of_functions(tmp_path):
    late = "def f():\n    from .sorting import Sorting\n"
    package = world(
        tmp_path,
        tables__rows=late,
        tables__sorting="from . import rows\n",
        array="from .tables.rows import f\n",
    )
    circle = frozenset({"coquina.tables.rows", "coquina.tables.sorting"})
    assert circles_of(arrows_of(package)) == {circle}
