// Package bundle writes bundles that make a node the child of another without a person: a directory with configuration, key and
// membership, for a local node, for cloud-init and for Ansible.
package bundle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"voltbus/deploy/systemd"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/atomicfile"
	"voltbus/point"
	"voltbus/uplink/enrol"
)

// Bundle is the content of a node's folder.
type Bundle struct {
	Parent      string   // the parent's name
	Addresses   []string // of its bus
	Fingerprint string   // of its authority
	Authority   string   // the certificate, PEM
	Name        string   // of the child
	Prefix      point.Path
}

// Files of a bundle, in the folder of the node's name.
const (
	configFile   = "voltbus.yaml" // for a node started in place
	serviceFile  = "service.yaml" // the same for a node run as a service
	dataFolder   = "data"
	cloudFolder  = "cloud-init"
	userDataFile = cloudFolder + "/user-data"
	metaDataFile = cloudFolder + "/meta-data"
)

// Locations of the files on the node's machine, see docs/guides/run-as-a-service.md.
const (
	configFolder = "/etc/voltbus"
	dataPlace    = "/var/lib/voltbus"
	unitPlace    = "/etc/systemd/system/voltbus.service"
	programPlace = "/usr/local/bin/voltbus"
)

var errOther = errors.New("holds the bundle of a child of another node; write into another folder")

// Key returns the key of a bundle below dir, which is created if absent.
func Key(dir, name string) (*identity.Key, error) {
	data := filepath.Join(dir, name, dataFolder)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fault.E("bundle.Key", fault.Unavailable, data, err)
	}
	p, err := enrol.OpenParent(data, time.Now)
	if err != nil {
		return nil, err
	}
	if m, member := p.Current(); member && m.Name != name {
		return nil, fault.E("bundle.Key", fault.Conflict, data, errOther)
	}
	return identity.OpenKey(filepath.Join(data, enrol.KeyFile))
}

// Drop removes a bundle of which only the key was written, for example because the parent did not accept it.
func Drop(dir, name string) {
	data := filepath.Join(dir, name, dataFolder)
	if _, err := os.Stat(filepath.Join(data, enrol.ParentFile)); !errors.Is(err, os.ErrNotExist) {
		return
	}
	_ = os.Remove(filepath.Join(data, enrol.KeyFile)) // leftovers are used by the next attempt
	_ = os.Remove(data)
	_ = os.Remove(filepath.Join(dir, name))
}

// Write writes a bundle below dir, with the key from Key, which the parent must know. A bundle whose node was
// started in place and has replaced its key is left unchanged.
func Write(dir string, b *Bundle, now time.Time) error {
	place := filepath.Join(dir, b.Name)
	p, err := enrol.OpenParent(filepath.Join(place, dataFolder), time.Now)
	if err != nil {
		return err
	}
	if m, member := p.Current(); member && !m.Bundled {
		return nil
	}
	err = p.Put(enrol.Membership{
		Parent: b.Parent, Addresses: b.Addresses, Fingerprint: b.Fingerprint, Authority: b.Authority,
		Name: b.Name, Prefix: b.Prefix, State: enrol.Approved, Joined: now.UTC(), Bundled: true,
	})
	if err != nil {
		return err
	}
	files := map[string]string{configFile: config(b, dataFolder), serviceFile: config(b, dataPlace), metaDataFile: metaData(b.Name)}
	if files[userDataFile], err = userData(place, files[serviceFile]); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(place, cloudFolder), 0o700); err != nil {
		return fault.E("bundle.Write", fault.Unavailable, place, err)
	}
	for name, content := range files {
		if err := write(filepath.Join(place, filepath.FromSlash(name)), content); err != nil {
			return err
		}
	}
	return nil
}

func config(b *Bundle, data string) string {
	return fmt.Sprintf(`# Node %s, a child of %s. What it reads stands here or in devices.d.
node:
  name: %s
  data: %s
listen:
  http: 127.0.0.1:8080
  bus: off
include: [devices.d/*.yaml]
`, b.Name, b.Parent, b.Name, data)
}

// Shared writes the files common to all bundles of a folder: the playbook and the unit.
func Shared(dir string) error {
	if err := write(filepath.Join(dir, "playbook.yaml"), playbook); err != nil {
		return err
	}
	return write(filepath.Join(dir, "voltbus.service"), systemd.Unit)
}

// write writes a file that only its owner may read.
func write(file, content string) error {
	if err := (atomicfile.Writer{}).Write(file, []byte(content), 0o600); err != nil {
		return fault.E("bundle.write", fault.Unavailable, file, err)
	}
	return nil
}
