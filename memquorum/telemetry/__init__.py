"""The telemetry of a stage: traces, metrics, health. It never holds content.

- `tracing`: one `process` span per record, one `send` span per record written, W3C traceparent in Kafka's headers;
- `recording`: exports spans by OTLP, or to bounded files in the run folder, which `reading` turns into trees again;
- `metrics`: every metric with its sentence, in one module;
- `health`: whether the loop turns, and what it waits for; `places`: a stage's positions in its topics; `leftout`:
  counts of unusable records;
- `bundle`: all of it as one argument for a worker.

The clients need `tracing` alone, which needs OpenTelemetry's API and nothing else.
"""
