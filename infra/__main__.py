"""`python -m infra`."""

from infra.commands import main

main()
