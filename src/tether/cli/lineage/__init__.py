"""`tether lineage …`: why the code is the way it is."""
