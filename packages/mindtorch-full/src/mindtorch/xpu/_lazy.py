"""Initialisation, which always refuses, and whether there is anything to initialise."""

from mindtorch._absent import SeedQueue, own_copies
from mindtorch._absent.initialization import *  # noqa: F403 - they become functions of this module

queue = SeedQueue()

default_generators: tuple[()] = ()

own_copies(globals(), "xpu")
