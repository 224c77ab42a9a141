// Package commands has the commands that command devices: set, release, reserve, override and approve.
package commands
