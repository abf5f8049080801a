"""The console's types: its JavaScript against the description of the API, by the TypeScript compiler."""
