"""The chart for Kubernetes, rendered and held against schemas and policies: `make chart`."""
