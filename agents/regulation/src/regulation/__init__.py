"""Lets the cooling and heating of buildings follow a signal of the grid."""
