{{/* What every object of the release is labelled with. */}}
{{- define "plattr-operator.labels" -}}
app.kubernetes.io/name: plattr-operator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "plattr-operator.selector" -}}
app.kubernetes.io/name: plattr-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "plattr-operator.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Settings that nobody can start with. */}}
{{- define "plattr-operator.check" -}}
{{- if not .Values.baseDomain }}
{{- fail "baseDomain must say below which domain apps are found, as example.com" }}
{{- end }}
{{- if and .Values.keycloak.adminUrl (not .Values.keycloak.existingSecret) }}
{{- fail "keycloak.adminUrl is set, so keycloak.existingSecret must name the Secret whose keys user and password let us in" }}
{{- end }}
{{- if and .Values.database.existingSecret .Values.database.secretArn }}
{{- fail "database.existingSecret and database.secretArn exclude each other: the administrator's URL is in one place" }}
{{- end }}
{{- if and .Values.storage.appRoleArnTemplate .Values.storage.appSecret }}
{{- fail "storage.appRoleArnTemplate and storage.appSecret exclude each other: apps have a role or keys" }}
{{- end }}
{{- end }}
