// Package place names the files and directories of an installed agent.
package place

import (
	"path/filepath"
	"strconv"
)

// Agents is the folder of all agents, in the data directory.
const Agents = "agents"

// File names in an agent's folder.
const (
	Record   = "agent.json"
	Program  = "program.json" // in a version's folder
	Key      = "key.nk"
	CA       = "ca.pem"
	Versions = "versions"
	Work     = "work"
	Log      = "log"
)

// Place is an agent's folder.
type Place string

// In returns the path of what is in the folder.
func (p Place) In(names ...string) string {
	return filepath.Join(append([]string{string(p)}, names...)...)
}

// Version returns the folder of a version.
func (p Place) Version(n int) string { return p.In(Versions, strconv.Itoa(n)) }
