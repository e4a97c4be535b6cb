"""Hostile checkpoints, made by a program: `python -m mindtorch_testing.hostile --count 100000 --write PAGE`.

File NUMBER of a seed is always the same. Each is loaded with `weights_only=True` in a forked process, and what it gives is
used. A load may refuse the file, with an error of the documented family, or give a value; findings are a process that died
or hangs, code that ran, a module that was imported, a file or process that was opened, memory beyond twice the file and
64 MB, a tensor that reaches outside its storage, and an error of another type.
"""
