"""Retrieval: a small HTTP service that searches, shows, explains, and waits for what becomes of an event.

    POST /search                            {namespace, query, k, agent, peek} → hits by exact cosine, both tiers
    GET  /memories/{id}                     one memory; its text only while it is alive
    GET  /memories/{id}/explain             why it is where it is, in structure and in words
    GET  /events/{namespace}/{event_id}     what became of an event; ?wait_ms= waits until it has an outcome
    GET  /livez, /readyz

The service has no accounts of its own and listens on the loopback interface; who reaches it reads everything. Requests
must name a host that it was told of and send JSON as such, so that no web page can speak to it through a browser.

Read in this order:

1. `routes`: the one table of endpoints; who adds an endpoint adds a line there and its function in a module beside it;
2. `search`, `memories`, `health`: the endpoints; each is handed the service and the request;
3. `service`: what endpoints share: the store, the encoders, what waits for outcomes, the publishing of uses;
4. `answers`: bodies that are read, errors that are told; `middleware`: what every request passes through;
5. `app`: the ASGI application of all that; `serving`: the process that serves it.
"""
