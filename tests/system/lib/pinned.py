"""Packages of other languages, by the lock files of tests/libraries."""

import os
import signal
import sys
import unittest

from .manual import SOURCE

sys.path.insert(0, os.path.join(SOURCE, "tests", "libraries"))

import install  # noqa: E402 pylint: disable=import-error,wrong-import-position
import table  # noqa: E402 pylint: disable=import-error,wrong-import-position


def folder_of(library):
    """Where the packages of a row of OTHERS are; if they can't be had, the test is skipped."""
    (row,) = [row for row in table.OTHERS if row.library == library]
    here = os.getcwd()
    left = signal.alarm(0)  # to fetch them is not the test's time
    try:
        return install.fetched(row)
    except install.Absent as error:
        raise unittest.SkipTest(f"{library} can't be had: {error}") from None
    finally:
        signal.alarm(left)
        os.chdir(here)
