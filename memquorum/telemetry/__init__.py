"""What a stage tells of itself while it works: traces, metrics, health. Never content.

- `tracing`: one `process` span per record, one `send` span per record written, W3C traceparent in Kafka's headers;
- `recording`: where spans go: OTLP, or bounded files in the run folder, which `reading` turns into trees again;
- `metrics`: every metric with its sentence, in one module;
- `health`: whether the loop turns, and what it waits for; `places`: how far it has read; `leftout`: records that
  nothing can be made of, counted;
- `bundle`: all of it as a worker is handed it.

The clients need `tracing` alone, which needs OpenTelemetry's API and nothing else.
"""
