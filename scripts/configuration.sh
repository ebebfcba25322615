# How the package is built here. To be sourced: sets `configuration`, flags of `swift build` for any package, and `traits`, those
# for this one: server, tools and the NIO transport come with a trait. Other packages name it in their manifests.
# Debug unless OUTPOST_CONFIGURATION=release. A part that is built with other flags builds everything anew.
scratch=${SCRATCH:-.build}
configuration=(--scratch-path "$scratch" -j "${JOBS:-2}")
traits=(--traits Server)
case ${OUTPOST_CONFIGURATION:-debug} in
debug) ;;
release) configuration+=(-c release) ;;
*) echo "outpost: OUTPOST_CONFIGURATION is debug or release, not $OUTPOST_CONFIGURATION" >&2; exit 2 ;;
esac
# Nobody debugs what continuous integration builds: libraries are optimised, and there is no information for debuggers. The index
# of editors stays: SwiftPM looks for tests in it.
if [ -n "${CI:-}" ]; then
    if [ "${OUTPOST_CONFIGURATION:-debug}" = debug ]; then export OUTPOST_OPTIMISED=1; else unset OUTPOST_OPTIMISED; fi
    configuration+=(-debug-info-format none --explicit-target-dependency-import-check error)
fi
