// Package shell contains what all commands share: reaching a node, the format of output and errors, and common flags.
package shell
