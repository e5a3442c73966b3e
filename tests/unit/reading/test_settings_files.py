from __future__ import annotations

import pytest

from asky.reading.settings_files import read_ini, read_json_lines, read_toml, read_yaml


def test_yaml_becomes_a_line_for_each_value_as_it_is_written() -> None:
    text = (
        "services:\n  db:\n    image: postgres:15.6\n    ports: [5432, 0o17]\n    on: yes\nversion: 1.10\n"
        "---\nsecond: true\n"
    )
    assert read_yaml(text.encode(), "a.yaml").text == (
        "services.db.image: postgres:15.6\nservices.db.ports[0]: 5432\nservices.db.ports[1]: 0o17\n"
        "services.db.on: yes\nversion: 1.10\n\nsecond: true\n"
    )


def test_aliases_of_yaml_are_followed() -> None:
    assert read_yaml(b"a: &x {b: 1}\nc: *x\n", "a.yaml").text == "a.b: 1\nc.b: 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "name: {{ .Values.name }}\nport: : 80\n\t- x\n",
        "a: &a [*a]\n",
        "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)),
        "[" * 3_000,
        "!!python/object/apply:os.system ['echo']: [\n",
    ],
    ids=["template", "a loop", "a bomb", "deep", "a command"],
)
def test_yaml_that_is_not_valid_or_endless_is_read_as_plain_text(text: str) -> None:
    document = read_yaml(text.encode(), "a.yaml")
    assert document.media_type == "text/plain"
    assert document.text == text


def test_a_tag_that_would_run_something_is_only_text() -> None:
    assert read_yaml(b"a: !!python/object/apply:os.system ['echo hi']\n", "a.yaml").text == "a[0]: echo hi\n"


def test_toml_has_paths_and_dates_in_iso_format() -> None:
    text = (
        b"title = 'x'\n[backup]\nstart = 02:15:00\nday = 2024-03-01\nratio = 1.10\nkeep = [1, 2]\n[[disk]]\nsize = 5\n"
    )
    assert read_toml(text, "a.toml").text == (
        "title: x\nbackup.start: 02:15:00\nbackup.day: 2024-03-01\nbackup.ratio: 1.10\nbackup.keep[0]: 1\n"
        "backup.keep[1]: 2\ndisk[0].size: 5\n"
    )
    assert read_toml(b"a = \n", "a.toml").text == "a = \n"


def test_ini_has_its_sections_and_keys_keep_their_case() -> None:
    assert read_ini(b"[Mail]\nHost = x.test\nTLS\n", "a.ini").text == "Mail.Host: x.test\nMail.TLS: \n"
    assert read_ini(b"listen 80;\n", "a.conf").text == "listen 80;\n"


def test_lines_of_json_are_records_and_other_lines_stay() -> None:
    assert read_json_lines(b'{"a": 1.10}\nnot json\n\n[true]\n', "a.jsonl").text.split() == (
        ["[0].a:", "1.10", "[1]:", "not", "json", "[2][0]:", "true"]
    )
