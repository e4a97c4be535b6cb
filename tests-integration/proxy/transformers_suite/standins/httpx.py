"""Gives the tests the client library under its former name."""

import sys

import httpx2

sys.modules["httpx"] = httpx2
