"""Token ids on disk, their order through an epoch, and padded batches of them."""
