{{- define "memquorum.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "memquorum.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "memquorum.labels" -}}
{{ include "memquorum.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "memquorum.image" -}}
{{- $repository := required "image.repository: the image that you built and pushed" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "memquorum.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "memquorum.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{/* At most f members of n = 3f + 1 or more may be away: n - f have to be there. */}}
{{- define "memquorum.quorum" -}}
{{- $n := len .Values.members.ids -}}
{{- sub $n (div (sub $n 1) 3) -}}
{{- end -}}

{{/* The settings of every process, one spelling with docker-compose.yml: tests/unit/infra/test_chart.py. */}}
{{- define "memquorum.settings" -}}
MEMQUORUM_RUN_DIR: /run/memquorum
MEMQUORUM_STATE_DIR: /var/lib/memquorum
MEMQUORUM_BOOTSTRAP: {{ required "kafka.bootstrap: HOST:PORT of the brokers" .Values.kafka.bootstrap | quote }}
MEMQUORUM_KAFKA_PROTOCOL: {{ .Values.kafka.protocol }}
MEMQUORUM_KAFKA_DIR: /cluster/kafka-logins
MEMQUORUM_MEMORY_DSN: {{ required "postgres.memoryDsn: a connection string" .Values.postgres.memoryDsn | quote }}
MEMQUORUM_VAULT_DSN: {{ required "postgres.vaultDsn: a connection string" .Values.postgres.vaultDsn | quote }}
MEMQUORUM_LOGINS_DIR: /cluster/logins
MEMQUORUM_GENESIS_FILE: /cluster/genesis.json
MEMQUORUM_KEYS_DIR: /cluster/keys
MEMQUORUM_MASTER_KEY_FILE: /cluster/master.key
MEMQUORUM_REGISTRY_LOGIN_FILE: /cluster/registry.login
MEMQUORUM_JOURNAL_MIRROR: {{ .Values.roles.events.mirror | quote }}
MEMQUORUM_WEBHOOKS_FILE: /cluster/webhooks.toml
MEMQUORUM_SUMMARISER_KEY_FILE: /cluster/summariser.key
MEMQUORUM_REPLICATION: {{ .Values.kafka.replication | quote }}
MEMQUORUM_MIN_ISR: {{ .Values.kafka.minIsr | quote }}
MEMQUORUM_CLOCK: wall
MEMQUORUM_RETRIEVAL_HOST: 0.0.0.0
MEMQUORUM_RETRIEVAL_PORT: "8080"
MEMQUORUM_WATCH_HOST: 0.0.0.0
MEMQUORUM_WATCH_PORT: "9464"
MEMQUORUM_LOG_FORMAT: json
{{- with .Values.members.shards }}
MEMQUORUM_REPLICA_SHARDS: {{ join " " . | quote }}
{{- end }}
{{- with .Values.roles.commit.shards }}
MEMQUORUM_COMMIT_SHARDS: {{ join " " . | quote }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- /* A number of a file of values is a float, which would be written as 2.592e+09. */}}
{{- $whole := and (kindIs "float64" $value) (eq (floor $value) (float64 $value)) }}
MEMQUORUM_{{ upper $name }}: {{ ternary (printf "%.0f" (float64 (ternary $value 0 $whole))) (toString $value) $whole | quote }}
{{- end }}
{{- end -}}

{{/* Refuses ranges that leave a shard out, or have one twice. Given: ranges, all: the number of shards, name: of the value. */}}
{{- define "memquorum.divided" -}}
{{- $covered := list -}}
{{- range .ranges -}}
{{- $ends := splitList "-" . -}}
{{- range untilStep (int (first $ends)) (int (add1 (int (last $ends)))) 1 -}}
{{- $covered = append $covered . -}}
{{- end -}}
{{- end -}}
{{- if and .ranges (ne (sortAlpha $covered | join " ") (sortAlpha (until (int .all)) | join " ")) -}}
{{- fail (printf "%s: each of the %d shards has to be in exactly one range" .name (int .all)) -}}
{{- end -}}
{{- end -}}

{{/* The names of the ports at which the containers of one pod show /metrics, by blanks: as many as a pod has at most. */}}
{{- define "memquorum.watches" -}}
{{- $more := until (int (max 1 (len .Values.members.shards) (len .Values.roles.commit.shards))) | rest -}}
watch{{ range $more }} watch-{{ . }}{{ end }}
{{- end -}}

{{/* What every container of ours is. */}}
{{- define "memquorum.container" -}}
image: {{ include "memquorum.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{/*
A pod of ours, but for what differs. Given: root; process: whose keys it has; command; resources; shards: the ranges that have a
container each, if there are any; and of a role also service
(it is probed and has a state), claim (the name of its volume, if it has one), node: nodeSelector and the like; of the job
that migrates: admin.
*/}}
{{- define "memquorum.pod" -}}
{{- $root := .root -}}
{{- $retrieval := eq .process "retrieval" -}}
automountServiceAccountToken: false
enableServiceLinks: false
serviceAccountName: {{ .account }}
securityContext: {{- toYaml $root.Values.podSecurityContext | nindent 2 }}
terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .node.nodeSelector | default $root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .node.tolerations | default $root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .node.affinity | default $root.Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
initContainers:
  # A Secret's files belong to root and its group may read them; ours are refused unless nobody but the process may.
  - name: keys
    {{- include "memquorum.container" $root | nindent 4 }}
    command: [sh, -euc]
    args:
      - |
        umask 077
        for file in /handed/*; do
          to="/cluster/$(basename "$file" | sed 's|__|/|g')"
          mkdir -p "$(dirname "$to")"
          cat "$file" > "$to"
        done
        {{- if .admin }}
        escaped() { sed 's/[\\:]/\\&/g' "/admin/$1"; }
        printf '*:*:*:%s:%s\n' "$(escaped username)" "$(escaped password)" > /cluster/admin.pgpass
        {{- end }}
        {{- if $retrieval }}
        mkdir -p /cluster/keys
        ln -sf /api-keys/api-keys.json /cluster/keys/api-keys.json
        {{- end }}
    resources:
      requests: {cpu: 10m, memory: 32Mi, ephemeral-storage: 16Mi}
      limits: {memory: 64Mi, ephemeral-storage: 32Mi}
    volumeMounts:
      - {name: handed, mountPath: /handed, readOnly: true}
      - {name: cluster, mountPath: /cluster}
      {{- if .admin }}
      - {name: admin, mountPath: /admin, readOnly: true}
      {{- end }}
containers:
  {{- range $at, $range := .shards | default (list "") }}
  {{- $watch := ternary (printf "watch-%d" $at) "watch" (gt $at 0) }}
  - name: {{ ternary "memquorum" (printf "%s-%s" $.process $range) (empty $range) }}
    {{- include "memquorum.container" $root | nindent 4 }}
    args: {{ toJson (ternary $.command (concat $.command (list "--shards" $range)) (empty $range)) }}
    env:
      {{- with $.admin }}
      - {name: ADMIN, valueFrom: {secretKeyRef: {name: {{ . }}, key: username}}}
      {{- end }}
      {{- range $name, $value := merge (dict "MEMQUORUM_WATCH_PORT" (toString (add 9464 $at))) ($.environment | default dict) (include "memquorum.settings" $root | fromYaml) }}
      - {name: {{ $name }}, value: {{ $value | quote }}}
      {{- end }}
      {{- range $of := list "all" $.process }}
      {{- with get $root.Values.extraEnv $of }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- end }}
    {{- if $.service }}
    ports:
      - {name: {{ $watch }}, containerPort: {{ add 9464 $at }}}
      {{- if $retrieval }}
      - {name: http, containerPort: 8080}
      {{- end }}
    # Encoders are loaded before the loop turns.
    startupProbe: {httpGet: {path: /livez, port: {{ $watch }}}, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 60}
    # /livez fails when the loop has stood still for 20 s. Brokers that stand still are no reason to start anew at once.
    livenessProbe: {httpGet: {path: /livez, port: {{ $watch }}}, periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 6}
    {{- if $retrieval }}
    # Ready as soon as it answers: without Kafka or the store all copies would leave the Service at once, and agents would be
    # told nothing instead of what is wrong.
    readinessProbe: {httpGet: {path: /livez, port: http}, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2}
    {{- else }}
    readinessProbe: {httpGet: {path: /readyz, port: {{ $watch }}}, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2}
    {{- end }}
    {{- end }}
    {{- if $retrieval }}
    # It still answers while the Service, and who is before it, learn that it goes.
    lifecycle: {preStop: {exec: {command: [sleep, "5"]}}}
    {{- end }}
    resources: {{- toYaml $.resources | nindent 6 }}
    volumeMounts:
      - {name: cluster, mountPath: /cluster, readOnly: true}
      - {name: run, mountPath: /run/memquorum}
      - {name: state, mountPath: /var/lib/memquorum}
      - {name: tmp, mountPath: /tmp}
      {{- if $retrieval }}
      - {name: api-keys, mountPath: /api-keys, readOnly: true}
      {{- end }}
      {{- if $root.Values.postgres.caConfigMap }}
      - {name: postgres-ca, mountPath: /postgres-ca, readOnly: true}
      {{- end }}
      {{- range $of := list "all" $.process }}
      {{- with get $root.Values.extraVolumeMounts $of }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- end }}
  {{- end }}
volumes:
  - name: handed
    {{- if $root.Values.keys.csi.enabled }}
    csi:
      driver: {{ $root.Values.keys.csi.driver }}
      readOnly: true
      volumeAttributes: {secretProviderClass: {{ $root.Values.keys.prefix }}-{{ .process }}}
    {{- else }}
    secret: {secretName: {{ $root.Values.keys.prefix }}-{{ .process }}, defaultMode: 0400}
    {{- end }}
  # Keys lie in memory, never on a node's disk.
  - {name: cluster, emptyDir: {medium: Memory, sizeLimit: 4Mi}}
  - {name: run, emptyDir: {sizeLimit: 256Mi}}
  {{- if .claim }}
  - {name: state, persistentVolumeClaim: {claimName: {{ .claim }}}}
  {{- else if ne (.template | default "") "state" }}
  - {name: state, emptyDir: {sizeLimit: 64Mi}}
  {{- end }}
  - {name: tmp, emptyDir: {sizeLimit: 64Mi}}
  {{- if .admin }}
  - {name: admin, secret: {secretName: {{ .admin }}, defaultMode: 0400}}
  {{- end }}
  {{- if $retrieval }}
  - {name: api-keys, secret: {secretName: {{ $root.Values.roles.retrieval.apiKeysSecret }}, defaultMode: 0440}}
  {{- end }}
  {{- with $root.Values.postgres.caConfigMap }}
  - {name: postgres-ca, configMap: {name: {{ . }}}}
  {{- end }}
  {{- range $of := list "all" .process }}
  {{- with get $root.Values.extraVolumes $of }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{- define "memquorum.claim" -}}
accessModes: [{{ .accessMode }}]
{{- with .storageClassName }}
storageClassName: {{ . }}
{{- end }}
resources: {requests: {storage: {{ .size }}}}
{{- end -}}

{{/* Requirements of NetworkPolicies: peers, and ports as TCP. */}}
{{- define "memquorum.egress" -}}
{{- with .to }}
to: {{- toYaml . | nindent 2 }}
{{- end }}
ports:
  {{- range .ports }}
  - {protocol: TCP, port: {{ int . }}}
  {{- end }}
{{- end -}}
