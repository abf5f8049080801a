#!/bin/bash
# Does what the entry point of the official image of Postgres 18 is documented to do, of the settings that
# docker-compose.yml uses: makes a cluster in /var/lib/postgresql/18/docker where there is none, and starts the server.
set -euo pipefail
export PGDATA=${PGDATA:-/var/lib/postgresql/18/docker}
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /var/run/postgresql
  chown -R postgres:postgres /var/lib/postgresql /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  eval "initdb --username=postgres --pwfile=\"$POSTGRES_PASSWORD_FILE\" ${POSTGRES_INITDB_ARGS:-}"
  printf '\nhost all all all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
  sed -i "s/^#listen_addresses = .*/listen_addresses = '*'/" "$PGDATA/postgresql.conf"
  # Scripts of initialisation would run here, against a server that listens on its socket alone.
fi
exec "$@"
