#!/bin/sh
# Prints the path of a Java that Apache Spark runs on (17 or later), installing one where possible.
# Order: $JAVA_HOME, the one on the path, others that are installed, Debian's package (as root).
# Prints nothing where none can be had.

is_enough() {
    version=$("$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 17 ]
}

find_java() {
    for java in "${JAVA_HOME:-/none}/bin/java" "$(command -v java)" \
        "${JVM_FOLDER:-/usr/lib/jvm}"/*/bin/java; do
        if [ -x "$java" ] && is_enough "$java"; then
            echo "$java"
            return 0
        fi
    done
    return 1
}

find_java && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    for package in openjdk-17-jre-headless default-jre-headless; do
        (apt-get update && apt-get install --yes --no-install-recommends $package) >/dev/null 2>&1
        find_java && exit 0
    done
fi
exit 0
