// Package shell contains what all commands share: how a node is reached, the format of output and errors, and common flags.
package shell
