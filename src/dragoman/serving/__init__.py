"""A translation server: models behind the APIs that existing programs speak."""
