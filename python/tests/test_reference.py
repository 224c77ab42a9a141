"""The documentation says what the code does."""

from __future__ import annotations

import doctest
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import voltbus.path
import voltbus.schedule

ROOT = Path(__file__).parents[1]


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "tools" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="signatures print otherwise")
def test_the_reference_is_as_the_docstrings() -> None:
    tool = _tool()
    assert tool.FILE.read_text() == tool.reference(), 'run "make generate"'


@pytest.mark.parametrize("module", [voltbus.path, voltbus.schedule])
def test_the_examples_in_docstrings_are_true(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 0) == (0, True)


def test_the_example_of_the_readme_works() -> None:
    text = (ROOT / "README.md").read_text()
    agent, test = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {"__name__": "readme"}
    sys.modules["readme"] = ModuleType("readme")
    try:
        exec(agent + test, names)
        names["test_a_hot_boiler_raises_an_alert"]()
    finally:
        del sys.modules["readme"]
