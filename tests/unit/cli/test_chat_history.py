from __future__ import annotations

import stat
from pathlib import Path

from asky.cli.chat.prompt import PrivateHistory


def kept(file: Path) -> list[str]:
    """What another chat would find, the newest first."""
    return list(PrivateHistory(file).load_history_strings())


def test_inputs_are_kept_whole_for_the_next_chat(tmp_path: Path) -> None:
    file = tmp_path / "history"
    history = PrivateHistory(file)
    for each in ("one", "two\nlines\n\n+ and a plus", "größe \udce9"):
        history.append_string(each)
    assert kept(file) == ["größe ?", "two\nlines\n\n+ and a plus", "one"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_input_that_begins_with_a_space_is_kept_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "history"
    history = PrivateHistory(file)
    history.append_string(" secret")
    assert history.get_strings() == []
    assert file.read_text() == ""


def test_a_pasted_book_comes_back_in_this_chat_and_drives_nothing_out_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "history"
    history = PrivateHistory(file)
    for each in ("one", "x" * 20_000, "y" * 2_000_000):
        history.append_string(each)
    assert [len(each) for each in history.get_strings()] == [3, 20_000, 2_000_000]
    assert kept(file) == ["x" * 20_000, "one"]


def test_a_file_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_text("\n# then\n+old\n")
    file.chmod(0o644)
    assert kept(file) == ["old"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_long_history_loses_its_older_half_entry_by_entry(tmp_path: Path) -> None:
    file = tmp_path / "history"
    history = PrivateHistory(file)
    for number in range(60):
        history.append_string(f"{number}\n" + "x" * 19_900)
    found = kept(file)
    numbers = [int(each.partition("\n")[0]) for each in found]
    assert numbers == list(range(59, 59 - len(found), -1))
    assert 25 <= len(found) <= 31
    assert all(each.endswith("x" * 19_900) for each in found)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
