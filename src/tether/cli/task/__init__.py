"""`tether task …`: the lifecycle, one module for each kind of verb."""
