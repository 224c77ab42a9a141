// Package shell is what all commands of the program share: how a node is reached, how output and errors look, and what flags mean.
package shell
