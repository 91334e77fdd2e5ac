#!/bin/sh
# Rustdoc, allowed to write JSON for the crate `agent`. The permission is given to rustdoc alone: given to cargo, it would
# make build scripts run again and everything build twice.
RUSTC_BOOTSTRAP=agent exec rustdoc "$@"
