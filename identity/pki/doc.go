// Package pki manages the certificates of a node: its authority, those of its listeners and devices, and the certificates that it trusts.
package pki
