"""`python -m divulge.cli` is `divulge`."""

from divulge.cli.main import main

if __name__ == "__main__":
    main()
