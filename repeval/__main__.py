"""`python -m repeval` is `repeval`."""

import sys

# Python looks in the working directory first, where somebody's numpy.py would be run instead.
if not sys.flags.safe_path:
    del sys.path[0]

from repeval.cli import main

sys.exit(main())
