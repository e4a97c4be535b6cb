"""The examples in torch's own docstrings, run on both libraries: programs that none of us wrote.

They are read from the torch that is installed, statement by statement; nothing of them is kept here.
"""
