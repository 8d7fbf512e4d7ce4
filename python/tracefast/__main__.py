"""`python -m tracefast`."""

from tracefast.cli import main

if __name__ == "__main__":
    main()
