{{- define "voltbus.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "voltbus.selector" -}}
app.kubernetes.io/name: voltbus
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "voltbus.labels" -}}
{{ include "voltbus.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Not empty if the nodes are replicas. Their names are those of their pods. */}}
{{- define "voltbus.replicated" -}}
{{ if gt (int .Values.replicas) 1 }}yes{{ end }}
{{- end }}

{{/* The configuration of a node alone, or of replicas. An autoscaled one has its own, which lists itself: .Members. */}}
{{- define "voltbus.configuration" -}}
node:
  {{- if not (include "voltbus.replicated" .) }}
  name: {{ include "voltbus.name" . }}
  {{- end }}
  data: /var/lib/voltbus
listen:
  http: ":{{ .Values.http.port }}"
  bus: "off"
  mqtts: ":{{ .Values.mqtts.port }}"
  names: # of the Service before the nodes, in their certificates
    - {{ include "voltbus.name" . }}-mqtts
    - {{ include "voltbus.name" . }}-mqtts.{{ .Release.Namespace }}.svc
    {{- with .Values.mqtts.names }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- if include "voltbus.replicated" . }}
cluster:
  listen: ":{{ .Values.cluster.port }}"
  key_file: /run/secrets/voltbus/{{ .Values.cluster.keySecret.key }}
  replicas:
    {{- range $n := until (int (.Members | default .Values.replicas)) }}
    {{- $name := printf "%s-%d" (include "voltbus.name" $) $n }}
    - {name: {{ $name }}, address: "{{ $name }}.{{ include "voltbus.name" $ }}:{{ $.Values.cluster.port }}"}
    {{- end }}
{{- end }}
{{ toYaml .Values.config }}
{{- end }}
