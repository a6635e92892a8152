"""`python -m repeval` is `repeval`."""

import sys

from repeval.cli import main

sys.exit(main())
