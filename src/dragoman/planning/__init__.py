"""What a training run will cost, before any of it is paid."""
