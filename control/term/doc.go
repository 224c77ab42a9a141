// Package term has one of several replicas control their devices at a time. Who has the right to it opens a dispatcher with the state
// that the replicas have in common, and decides until the right ends: a term. On a node alone the term never ends.
package term
