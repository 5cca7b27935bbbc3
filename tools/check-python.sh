#!/bin/sh
# Says what is missing before the set-up, with the line that installs it.
python=$1
if ! command -v "$python" >/dev/null 2>&1; then
    echo "Divulge needs Python 3.11 or later, and there is no $python." >&2
    echo "Install it with: sudo apt install make python3 python3-venv" >&2
    exit 2
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "Divulge needs Python 3.11 or later; $python is $("$python" -V 2>&1)." >&2
    echo "Install a newer one, and name it: make PYTHON=python3.12 ..." >&2
    exit 2
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "$python cannot make virtual environments." >&2
    echo "Install what is missing with: sudo apt install make python3-venv" >&2
    exit 2
fi
