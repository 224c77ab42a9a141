// Package pki keeps the certificates of a node: its authority, those of its listeners and devices, and whom it trusts.
package pki
