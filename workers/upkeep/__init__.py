"""What an operator runs beside the processes: dead letters, members, pruning, encoding anew."""
