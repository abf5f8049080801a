"""The names that users can use, frozen: paths, commands, tools, settings, numbers, metrics, topics and SQL views."""
