"""What a run would do and cost, told without a provider call and without a write."""
