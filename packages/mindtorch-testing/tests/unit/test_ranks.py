"""Ranks are started at a port that is theirs, and what is said of those that fail names them."""

import socket

import pytest

from mindtorch_testing.distributed import ranks

WAITS = "import os, sys, time\nif os.environ['RANK'] == '1': sys.exit('enough')\nprint('DONE 7', flush=True)\ntime.sleep(600)"


def test_a_reserved_port_is_for_those_who_name_it():
    with ranks.reserved_port() as port:
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("", port))
        with socket.create_server(("", port)) as server:
            assert server.getsockname()[1] == port
        with ranks.reserved_port() as another:
            assert another != port


def test_ranks_that_do_not_end_say_where_they_are():
    world = ranks.World(["-c", WAITS], 2)
    first, second = world.finish(3)
    assert first.how == "did not end in 3 s"
    assert "most recent call first" in first.errors
    assert (second.how, second.errors) == ("ended with 1", "enough\n")
    assert "--- rank 1\nenough" in ranks.told([first, second])


def test_answers_are_those_of_all_ranks():
    program = "import os; print('FOUND', os.environ['RANK']); print('else')"
    assert ranks.answers(["-c", program], 3, "FOUND ", 60) == [0, 1, 2]
    with pytest.raises(ranks.Failed, match=r"on 2 ranks:\nrank 0 did not end in 3 s\nrank 1 ended with 1"):
        ranks.answers(["-c", WAITS], 2, "DONE ", 3)


@pytest.mark.parametrize(("library", "runs"), [("torch", 3), ("mindtorch", 1)])
def test_ranks_of_torch_alone_run_again_when_torch_ends_them(library, runs):
    aborts = "terminate called without an active exception\nFatal Python error: Aborted\n\n  <no Python frame>"
    texts = iter([aborts, aborts, "well"])
    assert ranks.settled(library, lambda: next(texts), str) == ("well" if library == "torch" else aborts)
    assert len(list(texts)) == 3 - runs


def test_an_abort_of_a_statement_is_not_repeated():
    assert not ranks.torch_ended_itself("torch", 'terminate called without an active exception\n  File "a.py", line 1')
