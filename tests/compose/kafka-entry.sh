#!/bin/bash
# Does what the entry point of apache/kafka is documented to do: KAFKA_A_B_C becomes a.b.c of server.properties (two
# underscores an underscore, three a dash), the log folder is formatted for CLUSTER_ID, and the broker started.
set -euo pipefail
config=/opt/kafka/config/server.properties
: > "$config"
while IFS='=' read -r -d '' name value; do
  case "$name" in
    KAFKA_HEAP_OPTS | KAFKA_OPTS | KAFKA_JMX_OPTS | KAFKA_LOG4J_*) continue ;;
    KAFKA_*) name=${name#KAFKA_} ;;
    *) continue ;;
  esac
  name=$(printf %s "${name,,}" | sed -e 's/___/-/g' -e 's/__/\x01/g' -e 's/_/./g' -e 's/\x01/_/g')
  printf '%s=%s\n' "$name" "$value" >> "$config"
done < /proc/self/environ
java=(/opt/java/bin/java ${KAFKA_HEAP_OPTS:--Xms1g -Xmx1g} -XX:+UseSerialGC -XX:TieredStopAtLevel=1
  --sun-misc-unsafe-memory-access=allow -Dlog4j2.configurationFile=/opt/kafka/log4j2.properties -cp '/opt/kafka/libs/*')
"${java[@]}" kafka.tools.StorageTool format --ignore-formatted -t "$CLUSTER_ID" -c "$config"
exec "${java[@]}" kafka.Kafka "$config"
