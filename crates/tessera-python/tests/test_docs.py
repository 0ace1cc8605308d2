"""Examples in the documentation run; the stubs tell what there is."""

import ast
import doctest
import importlib
from pathlib import Path

import pytest
import tessera
from tessera import _native

MODULES = ["tessera", "tessera._batchsvd", "tessera._codec", "tessera._pack", "tessera._train", "tessera.cluster", "tessera.pillow"]
HERE = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module)
    assert failed == 0
    assert tried > 0 or name in ("tessera._train",)


@pytest.mark.parametrize("what", [tessera.Dictionary, tessera.CodedImage])
def test_examples_of_native_classes_run(what):
    example = doctest.DocTestParser().get_doctest(what.__doc__, {}, what.__name__, None, 0)
    assert example.examples and doctest.DocTestRunner().run(example).failed == 0


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(HERE / "README.md"), module_relative=False)
    assert failed == 0 and tried > 5


def test_everything_public_is_documented():
    for name in tessera.__all__:
        assert getattr(tessera, name).__doc__, name
    for what in (tessera.Dictionary, tessera.CodedImage, tessera.Pack):
        for name, member in vars(what).items():
            assert name.startswith("_") or member.__doc__, name


def test_stubs_tell_what_there_is():
    stub = (Path(tessera.__file__).parent / "_native.pyi").read_text()
    told = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.FunctionDef):
            told[node.name] = None
        elif isinstance(node, ast.AnnAssign):
            told[node.target.id] = None
        elif isinstance(node, ast.ClassDef):
            told[node.name] = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
    public = {name for name in dir(_native) if not name.startswith("_")}
    assert public == set(told)
    for name, members in told.items():
        if members is not None:
            there = {member for member in vars(getattr(_native, name)) if not member.startswith("_")}
            assert there == members - {"__new__"}, name
    assert (Path(tessera.__file__).parent / "py.typed").is_file()
