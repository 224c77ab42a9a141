// Package commands contains the commands that control points: set, release, reserve, override and approve.
package commands
