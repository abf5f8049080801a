"""The composition root: settings, embedded servers, topics, the fleet, the demo."""
