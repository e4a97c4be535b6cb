"""What the board of instruction counts lets pass."""

import json

import instructions

BOARD = {"one": {"add": 1000, "view": 2000}}


def test_a_board_allows_two_percent_in_its_own_environment():
    assert instructions.compare({"add": 1020, "view": 1000}, BOARD, "one")[1]
    lines, fine = instructions.compare({"add": 1021, "view": 2000}, BOARD, "one")
    assert not fine
    assert "too many" in lines[0]
    assert "as before" in lines[1]


def test_another_environment_is_compared_loosely_and_says_so():
    lines, fine = instructions.compare({"add": 1200, "view": 2000}, BOARD, "another")
    assert fine
    assert "no board of another" in lines[0]
    assert not instructions.compare({"add": 1201, "view": 2000}, BOARD, "another")[1]


def test_an_empty_board_and_a_case_off_the_board_do_not_pass():
    assert not instructions.compare({"add": 1}, {}, "one")[1]
    assert not instructions.compare({"add": 1, "sum": 1}, BOARD, "one")[1]


def test_the_board_has_every_case():
    assert all(set(counts) == set(instructions.CASES) for counts in json.loads(instructions.BOARD.read_text()).values())
