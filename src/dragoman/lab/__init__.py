"""The lab: the claims of the paper, each measured on this machine."""
