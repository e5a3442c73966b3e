from __future__ import annotations

import pytest

from asky.reading.settings.files import read_ini, read_json_lines, read_toml, read_yaml


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


def test_comments_of_yaml_stay_with_their_value() -> None:
    text = (
        "# Copyright\n\nserver: # the front\n  # the proxy drops\n  # idle connections\n  timeout: 30\n"
        "  host: 'a # b'  # not a secret\n  color: a#b\n  ports: [1, 2] # both\n  hosts:\n    - one # first\n"
        "    # the spare\n    - two\n  script: | # run by cron\n    # in the script\n    echo hi\n    # also in it\n"
        "  last: 1\n---\n# in the second\nx: &a {b: 1}\ny: *a\n"
    )
    assert read_yaml(text.encode(), "a.yaml").text == (
        "server: # the front\nserver.timeout: 30 # the proxy drops idle connections\n"
        "server.host: a # b # not a secret\nserver.color: a#b\nserver.ports: # both\nserver.ports[0]: 1\n"
        "server.ports[1]: 2\nserver.hosts[0]: one # first\nserver.hosts[1]: two # the spare\n"
        "server.script: # in the script\necho hi\n# also in it\n # run by cron\nserver.last: 1\n\n"
        "x: # in the second\nx.b: 1\ny.b: 1\n"
    )


def test_a_line_of_many_blanks_takes_no_longer_than_another() -> None:
    text = f"#\na: 1{' ' * 1_000_000}\nb:{' ' * 1_000_000}\n  c: 1\n"
    assert read_yaml(text.encode(), "a.yaml").text == "a: 1\nb.c: 1\n"


def test_comments_of_toml_stay_with_their_value() -> None:
    text = (
        '# Copyright\n\n# The name\nname = "a # b" # not a secret\nlong = """\n# in the text\n"""\nplain = 1\n'
        "[server.http]\n# the proxy drops\n# idle connections\ntimeout = 30\nports = [ # both\n  1,\n  2, # spare\n]\n"
        "# the disks\n[[disk]]\nsize = 5\n[[disk]]\nsize = 6 # the large one\n[disk.'by use']\n\"x\".y = 1 # odd"
    )
    assert read_toml(text.encode(), "a.toml").text == (
        "name: a # b # The name not a secret\nlong: # in the text\n\nplain: 1\n"
        "server.http.timeout: 30 # the proxy drops idle connections\nserver.http.ports: # both spare\n"
        "server.http.ports[0]: 1\nserver.http.ports[1]: 2\ndisk[0]: # the disks\ndisk[0].size: 5\n"
        "disk[1].size: 6 # the large one\ndisk[1].by use.x.y: 1 # odd\n"
    )


def test_ini_has_its_sections_and_keys_keep_their_case() -> None:
    assert read_ini(b"[Mail]\nHost = x.test\nTLS\n", "a.ini").text == "Mail.Host: x.test\nMail.TLS: \n"
    assert read_ini(b"listen 80;\n", "a.conf").text == "listen 80;\n"


def test_lines_of_json_are_records_and_other_lines_stay() -> None:
    assert read_json_lines(b'{"a": 1.10}\nnot json\n\n[true]\n', "a.jsonl").text.split() == (
        ["[0].a:", "1.10", "[1]:", "not", "json", "[2][0]:", "true"]
    )
