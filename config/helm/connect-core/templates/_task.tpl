{{- define "connect-core.pod" -}}
apiVersion: v1
kind: Pod
metadata:
  name: connector
spec:
  restartPolicy: Never
  serviceAccountName: {{ .Release.Name }}-task
  securityContext:
    runAsNonRoot: true
    runAsUser: 50000
    fsGroup: 50000
    seccompProfile: {type: RuntimeDefault}
  containers:
    # Airflow looks for the container of this name.
    - name: base
      image: {{ include "connect-core.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
      env:
        {{- include "connect-core.env" . | nindent 8 }}
        - name: POD_IP
          valueFrom:
            fieldRef: {fieldPath: status.podIP}
        # Spark's executors call the driver, which is this pod, by its address.
        - name: SPARK_LOCAL_IP
          value: $(POD_IP)
      resources:
        {{- toYaml .Values.task.resources | nindent 8 }}
      volumeMounts:
        {{- include "connect-core.mounts" . | nindent 8 }}
  volumes:
    {{- include "connect-core.volumes" . | nindent 4 }}
{{- end }}
