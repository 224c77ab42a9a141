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

{{- define "voltbus.configuration" -}}
node:
  name: {{ include "voltbus.name" . }}
  data: /var/lib/voltbus
listen:
  http: ":{{ .Values.http.port }}"
  bus: "off"
  mqtts: ":{{ .Values.mqtts.port }}"
{{ toYaml .Values.config }}
{{- end }}
