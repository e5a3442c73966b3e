"""What `[tools]` and `[prompts]` of a configuration may say, and who may say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.config.custom_tools import fill, find_missing_programs, is_open_to_options, placeholders
from asky.config.loader import Config, check_config, load_config
from asky.config.schema import CustomTool
from asky.errors import ConfigError

GOOD = """
[tools.calendar]
description = "The appointments of a day."
command = ["calendar", "--day={day}"]
parameters = { properties = { day = { type = "string" }, all = { type = "boolean" } }, required = ["day"] }
"""


class Folder:
    """A home with a user's file, and a project in it."""

    def __init__(self, root: Path) -> None:
        self.environ = {"HOME": str(root), "ASKY_HOME": str(root / "asky")}
        self.project = root / "project"
        self.user_file = root / "asky" / "config" / "research.toml"
        self.user_file.parent.mkdir(parents=True)
        self.project.mkdir()

    def load(self, text: str = "", project: str = "", **environ: str) -> Config:
        self.user_file.write_text(text)
        (self.project / ".asky.toml").write_text(project)
        return load_config(environ={**self.environ, **environ}, cwd=self.project)

    def fault(self, text: str) -> str:
        self.user_file.write_text(text)
        problems = check_config(environ=self.environ, cwd=self.project)
        assert problems, text
        assert isinstance(problems[0], ConfigError)
        return problems[0].message


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_tool_is_off_unless_enabled_and_gets_little(folder: Folder) -> None:
    tool = folder.load(GOOD).tools["calendar"]
    assert tool.enabled is False
    assert tool.environment == ("PATH", "LANG")
    assert (tool.timeout_s, tool.max_output_bytes) == (30.0, 65_536)
    assert folder.load(GOOD, ASKY_TOOLS__CALENDAR__ENABLED="true").tools["calendar"].enabled is True


@pytest.mark.parametrize(
    "project",
    [
        GOOD,
        "[tools.calendar]\nenabled = true\n",
        '[tools.calendar]\ncommand = ["rm"]\n',
        '[prompts]\nsummary = "file:///etc/shadow"\n',
        "tools = { calendar = { enabled = true } }\n",
    ],
)
def test_a_project_can_neither_define_nor_enable_anything(folder: Folder, project: str) -> None:
    with pytest.raises(ConfigError) as caught:
        folder.load(GOOD, project)
    assert "a project file may not set" in caught.value.message
    assert str(folder.user_file) in (caught.value.hint or "")


def tool(command: str, parameters: str = "{}", name: str = "own", more: str = "") -> str:
    return f"[tools.{name}]\ndescription = 'x'\ncommand = {command}\nparameters = {parameters}\n{more}\n"


ONE = '{ type = "object", properties = { x = { type = "string" } }, required = ["x"] }'
OPTIONAL = '{ type = "object", properties = { x = { type = "string" } } }'
LISTED = '{ type = "object", properties = { x = { type = "array" } }, required = ["x"] }'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (tool("[]"), "must begin with a program"),
        (tool('["bin/own"]'), "absolute path"),
        (tool('["~/own"]'), "absolute path"),
        (tool('["{x}", "y"]', ONE), "the program itself"),
        (tool('["own", "{y}"]', ONE), "{y} is not among the parameters"),
        (tool('["own", "{x}"]', OPTIONAL), "{x} must be required"),
        (tool('["own", "{x}"]', LISTED), "list or table"),
        (tool('["sh", "-c", "echo {x}"]', ONE), "run as code"),
        (tool('["timeout", "5", "/bin/bash", "-xec", "echo {x}"]', ONE), "run as code"),
        (tool('["python3.11", "-c{x}"]', ONE), "run as code"),
        (tool('["node", "--eval={x}"]', ONE), "run as code"),
        (tool('["perl", "-ne", "{x}"]', ONE), "run as code"),
        (tool('["own"]', '{ type = "array" }'), "of type object"),
        (tool('["own"]', '{ properties = "x" }'), "properties must be a table"),
        (tool('["own"]', "{ properties = { x = 3 } }"), "must be a table"),
        (tool('["own"]', '{ properties = { x = { type = "text" } } }'), "type must be one of"),
        (tool('["own"]', '{ properties = { x = { type = "string", pattern = "a" } } }'), "'pattern'"),
        (tool('["own"]', '{ properties = { x = { type = "string", maxLength = "9" } } }'), "maxLength must be"),
        (tool('["own"]', '{ properties = { x = { type = "integer", minimum = true } } }'), "minimum must be"),
        (tool('["own"]', '{ properties = { x = { type = "string", enum = [] } } }'), "enum must be"),
        (tool('["own"]', '{ required = "x" }'), "required must be"),
        (tool('["own"]', '{ required = ["x"] }'), "'x' is required but"),
        (tool('["own"]', "{ additionalProperties = true }"), "additionalProperties"),
        (tool('["own"]', name="Own"), "begins with a letter"),
        (tool('["own"]', name='"own tool"'), "begins with a letter"),
        (tool('["own"]', name="web_search"), "asky has a tool of this name"),
        (tool('["own"]', more='environment = ["PATH=/tmp"]'), "not the name of a variable"),
        (tool('["own"]', more="shell = true"), "unknown key tools.own.shell"),
        (tool('"own --flag"'), "expected a list of text"),
        ("[tools.own]\ncommand = ['x']\n", "tools.own.description is missing"),
        ("[prompts]\nTitle = 'x'\n", "cannot be typed"),
        ("[prompts]\nempty = ' '\n", "is not text"),
        ("[prompts]\nnumber = 3\n", "is not text"),
        ("[prompts]\nlong = '" + "x" * 20_001 + "'\n", "the limit is 20,000"),
        ("[prompts]\nfile = 'file://prompt.txt'\n", "absolute path"),
    ],
)
def test_what_could_not_work_or_would_be_unsafe_is_refused(folder: Folder, text: str, message: str) -> None:
    assert message in folder.fault(text)


@pytest.mark.parametrize(
    "text",
    [
        tool('["own"]'),
        tool('["own", "{{x}}", "{ print $1 }", "{}"]'),
        tool('["sh", "-c", "echo \\"$1\\"", "--", "{x}"]', ONE),
        tool('["git", "log", "-e", "{x}"]', ONE),
        tool('["/opt/own", "a{x}b{x}"]', ONE),
        "[prompts]\na-b_1 = '''two\nlines {{x}}'''\nfile = 'file://~/p.txt'\n",
    ],
)
def test_what_is_fine_is_taken(folder: Folder, text: str) -> None:
    folder.load(text)


def test_a_schema_without_end_is_refused_in_a_line(folder: Folder) -> None:
    deep = '{ type = "array", items = ' * 30 + '{ type = "string" }' + " }" * 30
    message = folder.fault(tool('["own"]', "{ properties = { x = " + deep + " } }"))
    assert "nested deeper" in message
    assert len(message) < 300


def test_filling_replaces_names_once() -> None:
    assert fill("a{x}{{x}}{x}", {"x": "{x}{y}"}) == "a{x}{y}{x}{x}{y}"
    assert placeholders("{a}{{b}}{ c }{d-e}{}") == ["a", "d-e"]
    assert is_open_to_options(["p", "{x}y"], 1)
    assert not is_open_to_options(["p", "y{x}"], 1)
    assert not is_open_to_options(["p", "--", "{x}"], 2)
    assert not is_open_to_options(["p", "{{x}}"], 1)


def test_a_missing_program_is_found_on_the_path_that_the_tool_gets(tmp_path: Path) -> None:
    program = tmp_path / "own"
    program.write_text("#!/bin/sh\n")
    environ = {"PATH": str(tmp_path)}

    def missing(command: str, *, enabled: bool = True) -> int:
        own = CustomTool("x", (command,), {}, enabled=enabled)
        return len(list(find_missing_programs({"own": own}, environ)))

    assert missing("own") == 1  # it may not be executed
    program.chmod(0o755)
    assert missing("own") == 0
    assert missing(str(program)) == 0
    assert missing("other") == 1
    assert missing("/nowhere/other") == 1
    assert missing("other", enabled=False) == 0
