package identity

import (
	"path/filepath"

	"voltbus/identity/keyfile"
)

// DriverSecrets returns the function that keeps the secrets of drivers in a data directory, as driver.Keep.
func DriverSecrets(dataDir string) func(name string, create func() ([]byte, error)) ([]byte, error) {
	drawer := &keyfile.Drawer{Folder: filepath.Join(dataDir, "drivers")}
	return drawer.Keep
}
