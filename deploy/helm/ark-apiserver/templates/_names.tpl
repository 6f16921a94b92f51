{{/* What every object of the release is labelled with. */}}
{{- define "ark-apiserver.labels" -}}
app.kubernetes.io/name: ark-apiserver
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "ark-apiserver.selector" -}}
app.kubernetes.io/name: ark-apiserver
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The Secret with the certificate. */}}
{{- define "ark-apiserver.tlsSecret" -}}
{{- .Values.tls.existingSecret | default "ark-apiserver-tls" -}}
{{- end }}

{{/* Settings that nobody can start with. */}}
{{- define "ark-apiserver.check" -}}
{{- with .Values.storage }}
{{- if eq .driver "postgresql" }}
{{- if not .postgresql.host }}
{{- fail "storage.driver is postgresql, so storage.postgresql.host must say where it is" }}
{{- end }}
{{- if not .postgresql.existingSecret }}
{{- fail "storage.driver is postgresql, so storage.postgresql.existingSecret must name the Secret whose key password holds the password" }}
{{- end }}
{{- if and (eq .postgresql.sslmode "verify-full") (not .postgresql.sslRootCertSecret) }}
{{- fail "storage.postgresql.sslmode is verify-full, so storage.postgresql.sslRootCertSecret must name the Secret whose key ca.crt holds the authority" }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.certManager.enabled .Values.tls.existingSecret }}
{{- fail "certManager.enabled and tls.existingSecret exclude each other: one of them makes the certificate" }}
{{- end }}
{{- end }}

{{/*
The certificate: that of the Secret where there is one, else a new authority and a certificate of it. Answers ca, cert and key,
each in base64. It must be asked once for each rendering: a second answer would be another certificate.
*/}}
{{- define "ark-apiserver.certificate" -}}
{{- $found := lookup "v1" "Secret" .Release.Namespace (include "ark-apiserver.tlsSecret" .) }}
{{- if .Values.tls.existingSecret }}
{{- $ca := .Values.tls.caBundle | b64enc }}
{{- if and (not $ca) $found }}
{{- $ca = index $found.data "ca.crt" }}
{{- end }}
{{- if not $ca }}
{{- fail (printf "tls.existingSecret is %s, which is not there or has no ca.crt: tls.caBundle must hold the authority" .Values.tls.existingSecret) }}
{{- end }}
ca: {{ $ca | quote }}
{{- else if $found }}
ca: {{ index $found.data "ca.crt" | quote }}
cert: {{ index $found.data "tls.crt" | quote }}
key: {{ index $found.data "tls.key" | quote }}
{{- else }}
{{- $name := printf "ark-apiserver.%s.svc" .Release.Namespace }}
{{- $ca := genCA "ark-apiserver-ca" 3650 }}
{{- $pair := genSignedCert $name nil (list $name (printf "%s.cluster.local" $name)) 3650 $ca }}
ca: {{ $ca.Cert | b64enc | quote }}
cert: {{ $pair.Cert | b64enc | quote }}
key: {{ $pair.Key | b64enc | quote }}
{{- end }}
{{- end }}
