// Package registry knows the agents of a node, its children and their invitations, each with its key and what it was
// granted. It keeps them in memory over a durable storage, and tells who asked to be told of every change after it holds.
package registry
