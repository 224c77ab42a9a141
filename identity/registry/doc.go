// Package registry keeps the agents, children and invitations of a node, each with its key and grants. It keeps them in memory over a
// durable storage, and notifies subscribers of every change after it holds.
package registry
