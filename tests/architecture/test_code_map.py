"""`make map` shows each file of the code once, with what it is."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def shown(*folders):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "code_map.py", *folders], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_the_map_shows_each_file_with_what_it_is():
    lines = shown()
    files = [path for path in (ROOT / "crates").rglob("*.rs") if "target" not in path.parts]
    files += [path for path in (ROOT / "python/coquina").rglob("*.py*") if path.suffix in (".py", ".pyi")]
    entries = [line.split(maxsplit=1) for line in lines]
    faces = [path for path in files if path.name in ("mod.rs", "__init__.py")]
    assert len([line for line in entries if line[0].endswith((".rs", ".py", ".pyi"))]) == len(files) - len(
        faces
    )
    without = [line for line in entries if len(line) == 1 and not line[0].endswith("/")]
    assert not without
    assert "  header.rs" in "\n".join(lines)
    assert not [line for line in lines if line != line.rstrip() or "\x1b" in line]


def test_a_folder_is_shown_with_what_its_module_says(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "lib.rs").write_text("//! The whole of\n//! it. And more.\n//!\n//! Details.\nfn f() {}\n")
    (tmp_path / "inner/mod.rs").write_text("//! What is inside.\n")
    (tmp_path / "inner/part.py").write_text('"""A part."""\n')
    (tmp_path / "nothing").mkdir()
    (tmp_path / "notes.md").write_text("no code\n")
    lines = shown(str(tmp_path))
    assert [line.split(maxsplit=1) for line in lines] == [
        [f"{tmp_path.name}/"],
        ["lib.rs", "The whole of it."],
        ["inner/", "What is inside."],
        ["part.py", "A part."],
    ]
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 2, 2, 4]
