"""Who is who, and who signed what. Read in this order:

1. `membership`: the genesis file: who votes with what weight, which services there are, which agents have a key;
2. `messages`: what a signature of a member, a service or the operator covers, and whose it has to be;
3. `keys`: what a member or a service signs by;
4. `signatures`: what an agent signs when it publishes;
5. `grants`: what the retrieval service signs for whoever published by an API key;
6. `stamps`: how the fleet's own records are told from a stranger's, where nobody signs.
"""
