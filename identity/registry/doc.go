// Package registry keeps the agents, children and invitations of a node, each with its key and grants. It keeps them in memory,
// backed by durable storage, and notifies subscribers of every change after it takes effect.
package registry
