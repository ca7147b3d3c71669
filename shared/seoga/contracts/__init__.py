"""What the services promise each other: for each one a Protocol, its HTTP client and its routes
side by side."""
