"""The intake process judges what agents publish and writes the accepted stream (DESIGN 4).

1. `worker`: the loop; `arrivals`: what it asks of a record before and after `core.intake` judges it;
   `reading`: what it reads, and how far partitions go; `ticking`: when a tick is due; `claims`: whose event ids are;
   `registry`: what it asks a schema registry; `writing`: what it produces;
2. `gate` and `stocktaking`: limits of namespaces, by what came within a minute and by how many memories there are;
3. `holding`: whose turn it is; `scored`: how far others have come; `offsets`: how far partitions are committed;
4. `clearing` and `outside`: what was let in is deleted from the outside topics; `old_keys`: the end of the keys
   of what was refused, and of queries.
"""
