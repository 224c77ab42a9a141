package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"voltbus/fault"
)

// Where the log of a node is, alone and as a replica. One does not become the other by configuration: what is in it and not in the
// store yet would be lost, and its numbers used again.
const (
	logFolder        = "log"
	replicatedFolder = "replicated"
)

// LogDir returns where the log is in a data directory: fault.Conflict if there is one of the other kind.
func (c *Config) LogDir(data string) (string, error) {
	dir, other := logFolder, replicatedFolder
	if c.Enabled() {
		dir, other = other, dir
	}
	if _, err := os.Stat(filepath.Join(data, other)); err == nil {
		return "", fault.E("bus.Open", fault.Conflict, data, fmt.Errorf(
			"the log of this data directory is in the folder %s, and the section cluster was added or removed since: put the section back as it was, or write another directory as node.data", other))
	}
	return filepath.Join(data, dir), nil
}
