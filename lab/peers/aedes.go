package peers

import (
	"context"
	_ "embed" // for the script
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"voltbus/fault"
)

//go:embed aedes.mjs
var aedesScript []byte

// aedesEnv names the folder that has the package.
const aedesEnv = "VOLTBUS_PEER_AEDES"

// findAedes returns nil if the broker aedes is here, else how to get it.
func findAedes() error {
	folder := os.Getenv(aedesEnv)
	if folder == "" {
		return fault.E("peers.find", fault.NotFound, "aedes", errors.New("install it (npm install aedes), and set "+aedesEnv+" to the folder that has its node_modules"))
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "aedes")); err != nil {
		return fault.E("peers.find", fault.NotFound, "aedes", fmt.Errorf("%s is %s, which has no node_modules/aedes: %w", aedesEnv, folder, err))
	}
	_, err := find("node", "on Debian: apt-get install nodejs")
	return err
}

// openAedes starts aedes, which speaks MQTT 3.1.1 only, in a directory for clients with these names and passwords. It keeps nothing
// on disk.
func openAedes(ctx context.Context, dir string, passwords map[string]string) (*FleetBroker, error) {
	if err := findAedes(); err != nil {
		return nil, err
	}
	d, err := newDoors(dir)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(os.Getenv(aedesEnv))
	if err != nil {
		return nil, err
	}
	work, err := json.Marshal(map[string]any{
		"folder": folder, "plain": d.plain, "secure": d.secure, "certificate": d.cert.certFile, "key": d.cert.keyFile, "passwords": passwords,
	})
	if err != nil {
		return nil, err
	}
	script, file := filepath.Join(dir, "aedes.mjs"), filepath.Join(dir, "work.json")
	if err := errors.Join(os.WriteFile(script, aedesScript, 0o600), os.WriteFile(file, work, 0o600)); err != nil {
		return nil, fmt.Errorf("write the broker's script: %w", err)
	}
	return d.start(ctx, exec.Command("node", script, file)) //nolint:noctx // stop ends it
}
