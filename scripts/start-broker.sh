#!/usr/bin/env bash
# Starts a RabbitMQ at 127.0.0.1:PORT (5672) for the tests, with its data in FOLDER, unless one answers there. Installs Debian's package if none is
# installed and this is root. Writes its process group to FOLDER/group: the caller ends it with `kill -- -$(cat FOLDER/group)`.
set -euo pipefail
folder=${1:?usage: scripts/start-broker.sh FOLDER [PORT]}
port=${2:-5672}
program=/usr/lib/rabbitmq/bin/rabbitmq-server

answers() { (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; }

answers && exit 0
if [ ! -x "$program" ]; then
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo 'No RabbitMQ here, and it can be installed as root on Debian only: its tests are skipped.' >&2
    exit 0
  fi
  export DEBIAN_FRONTEND=noninteractive
  # Prevents the package from starting a service: this script's RabbitMQ must be ours to end.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    trap 'rm -f "$policy"' EXIT
  fi
  apt-get install -y --no-install-recommends rabbitmq-server >/dev/null 2>&1 ||
    { apt-get update >/dev/null && apt-get install -y --no-install-recommends rabbitmq-server >/dev/null; }
fi
mkdir -p "$folder"
HOME=$folder RABBITMQ_NODENAME=holdfast-ci-$port@localhost RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT=$port RABBITMQ_DIST_PORT=$((port + 20001)) \
  RABBITMQ_MNESIA_BASE=$folder/data RABBITMQ_LOG_BASE=$folder/log RABBITMQ_PID_FILE=$folder/pid RABBITMQ_CONF_ENV_FILE=/dev/null \
  RABBITMQ_CONFIG_FILE=$folder/none RABBITMQ_ENABLED_PLUGINS_FILE=$folder/plugins \
  setsid "$program" >"$folder/output" 2>&1 </dev/null &
echo $! >"$folder/group"
for _ in $(seq 300); do
  answers && exit 0
  sleep 0.2
done
echo "RabbitMQ did not start within 60 s: its tests are skipped. See $folder/log." >&2
exit 1
