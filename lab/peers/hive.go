package peers

import (
	"context"
	_ "embed" // for the program
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"voltbus/fault"
)

//go:embed Hive.java
var hiveProgram []byte

// hiveEnv names the folder that has the broker's jars.
const hiveEnv = "VOLTBUS_PEER_HIVEMQ"

// findHive returns nil if HiveMQ CE is here, else how to get it.
func findHive() error {
	folder := os.Getenv(hiveEnv)
	if folder == "" {
		return fault.E("peers.find", fault.NotFound, "HiveMQ CE", errors.New("copy com.hivemq:hivemq-community-edition-embedded with its dependencies from Maven "+
			"(mvn dependency:copy-dependencies), and set "+hiveEnv+" to the folder of the jars"))
	}
	if found, err := filepath.Glob(filepath.Join(folder, "hivemq-community-edition-embedded-*.jar")); err != nil || len(found) == 0 {
		return fault.E("peers.find", fault.NotFound, "HiveMQ CE", fmt.Errorf("%s is %s, which has no hivemq-community-edition-embedded-*.jar", hiveEnv, folder))
	}
	_, err := find("java", "on Debian: apt-get install openjdk-17-jdk-headless")
	return err
}

// openHive starts HiveMQ CE in a directory for clients with these names and passwords.
func openHive(ctx context.Context, dir string, passwords map[string]string) (*FleetBroker, error) {
	if err := findHive(); err != nil {
		return nil, err
	}
	d, err := newDoors(dir)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(os.Getenv(hiveEnv))
	if err != nil {
		return nil, err
	}
	program, names := filepath.Join(dir, "Hive.java"), filepath.Join(dir, "names")
	var b strings.Builder
	for name, password := range passwords {
		fmt.Fprintf(&b, "%s:%s\n", name, password)
	}
	if err := errors.Join(os.WriteFile(program, hiveProgram, 0o600), os.WriteFile(names, []byte(b.String()), 0o600)); err != nil {
		return nil, fmt.Errorf("write the broker's program: %w", err)
	}
	cmd := exec.Command("java", "-cp", filepath.Join(folder, "*"), program, //nolint:noctx // stop ends it
		filepath.Join(dir, "hive"), strconv.Itoa(d.plain), strconv.Itoa(d.secure), d.cert.certFile, d.cert.keyFile, names)
	return d.start(ctx, cmd)
}
