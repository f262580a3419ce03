"""Runs the command as `python -m coquina.cli`."""

import sys

from coquina.cli import main

sys.exit(main())
