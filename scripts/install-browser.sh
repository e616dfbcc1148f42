#!/usr/bin/env bash
# Installs Debian's Chromium for the browser tests. Needs root; does nothing if a Chromium is installed.
set -euo pipefail
command -v chromium >/dev/null && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo 'No Chromium here, and it can be installed as root on Debian only: the browser tests are skipped.' >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get install -y --no-install-recommends chromium >/dev/null 2>&1 ||
  { apt-get update >/dev/null && apt-get install -y --no-install-recommends chromium >/dev/null; }
