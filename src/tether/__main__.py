"""`python -m tether`"""

from tether.cli.main import run

run()
