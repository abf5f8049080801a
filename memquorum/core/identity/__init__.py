"""The identities, and their signatures. Modules, in reading order:

1. `membership`: the genesis file: the members with their weights, the services, the agents with a key;
2. `messages`: the bytes that a signature of a member, a service or the operator covers, and the required signer;
3. `keys`: the keys of a member or a service;
4. `signatures`: an agent's signature on a published record;
5. `grants`: the retrieval service's signature for a publisher with an API key;
6. `stamps`: how the fleet's own unsigned records are told from a stranger's.
"""
