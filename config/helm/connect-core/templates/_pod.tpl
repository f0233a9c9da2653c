{{/* What every process of connect-core is given: its settings, and the logins of the Secret. */}}
{{- define "connect-core.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end }}

{{- define "connect-core.env" -}}
- name: CONNECT_WORKER_CONFIG
  value: /etc/connect/worker.properties
- name: CONNECT_SECRET_KEY_FILE
  value: /etc/connect-secret/secret-key
- name: CONNECT_AIRFLOW_PASSWORD_FILE
  value: /etc/connect-secret/airflow-password
- name: CONNECT_DATABASE_URL
  valueFrom:
    secretKeyRef: {name: {{ .Values.secret | quote }}, key: database-url}
- name: CONNECT_SPARK_REMOTE
  valueFrom:
    secretKeyRef: {name: {{ .Values.secret | quote }}, key: spark-remote, optional: true}
{{- end }}

{{- define "connect-core.mounts" -}}
- name: worker
  mountPath: /etc/connect
  readOnly: true
- name: secret
  mountPath: /etc/connect-secret
  readOnly: true
{{- end }}

{{- define "connect-core.volumes" -}}
- name: worker
  configMap:
    name: {{ .Release.Name }}-worker
- name: secret
  secret:
    secretName: {{ .Values.secret | quote }}
    # Kubernetes gives these files to root and the pod's group.
    defaultMode: 0440
    items:
      - {key: secret-key, path: secret-key}
      - {key: airflow-password, path: airflow-password}
{{- end }}
