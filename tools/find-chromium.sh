#!/bin/sh
# Prints the path of a Chromium for the browser tests, installing one where that is possible.
# Order: $CHROMIUM, an installed one, Debian's package (as root), the npm package that carries one.
# Prints nothing where none can be had; then the browser tests are skipped, and say why.
here=$(dirname "$0")

if [ -n "$CHROMIUM" ]; then
    echo "$CHROMIUM"
    exit 0
fi
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then
        command -v "$name"
        exit 0
    fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    if (apt-get update && apt-get install --yes --no-install-recommends chromium) >/dev/null 2>&1; then
        command -v chromium
        exit 0
    fi
fi
if command -v npm >/dev/null 2>&1; then
    folder="$here/../build/chromium"
    mkdir -p "$folder"
    if npm install --silent --no-audit --no-fund --prefix "$folder" @sparticuz/chromium >/dev/null 2>&1; then
        (cd "$folder" && node -e \
            'import("@sparticuz/chromium").then(async m => console.log(await m.default.executablePath()))' \
            2>/dev/null)
    fi
fi
exit 0
