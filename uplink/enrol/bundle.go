package enrol

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/atomicfile"
	"voltbus/point"
)

// Bundle is what a node needs to be the child of another without a person: a configuration, a key and
// the membership, in a folder of its name.
type Bundle struct {
	Parent      string   // the parent's name
	Addresses   []string // of its bus
	Fingerprint string   // of its authority
	Authority   string   // the certificate, PEM
	Name        string   // of the child
	Prefix      point.Path
}

// Where a bundle's files are put on the machine of the node, see docs/guides/run-as-a-service.md.
const (
	configPlace = "/etc/voltbus/voltbus.yaml"
	dataPlace   = "/var/lib/voltbus"
)

var errBundleParent = errors.New("holds the bundle of a child of another node; write into another folder")

// BundleKey returns the key of a bundle below dir, which is made if it is not there.
func BundleKey(dir, name string) (*identity.Key, error) {
	data := filepath.Join(dir, name, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fault.E("enrol.BundleKey", fault.Unavailable, data, err)
	}
	p, err := OpenParent(data, time.Now)
	if err != nil {
		return nil, err
	}
	if m, member := p.Current(); member && m.Name != name {
		return nil, fault.E("enrol.BundleKey", fault.Conflict, data, errBundleParent)
	}
	return identity.OpenKey(filepath.Join(data, KeyFile))
}

// WriteBundle writes a bundle below dir, whose key BundleKey made and the parent knows: voltbus.yaml and
// data for a node that is started right there, and cloud-init.yaml that puts the same on a new machine.
func WriteBundle(dir string, b *Bundle, now time.Time) error {
	const op = "enrol.WriteBundle"
	place := filepath.Join(dir, b.Name)
	p, err := OpenParent(filepath.Join(place, "data"), time.Now)
	if err != nil {
		return err
	}
	err = p.Put(Membership{
		Parent: b.Parent, Addresses: b.Addresses, Fingerprint: b.Fingerprint, Authority: b.Authority,
		Name: b.Name, Prefix: b.Prefix, State: Approved, Joined: now.UTC(),
	})
	if err != nil {
		return err
	}
	config := bundleConfig(b, "data")
	if err := write(op, filepath.Join(place, "voltbus.yaml"), config); err != nil {
		return err
	}
	init, err := cloudInit(place, bundleConfig(b, dataPlace))
	if err != nil {
		return err
	}
	return write(op, filepath.Join(place, "cloud-init.yaml"), init)
}

func bundleConfig(b *Bundle, data string) string {
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

// cloudInit puts configuration, key and membership on a machine before the service starts. It holds the
// key: keep it like one.
func cloudInit(place, config string) (string, error) {
	var out strings.Builder
	out.WriteString("#cloud-config\n# Holds a private key: keep it like one.\n" +
		"users:\n  - default\n  - name: voltbus\n    system: true\n    homedir: " + dataPlace + "\n    shell: /usr/sbin/nologin\nwrite_files:\n")
	file := func(path, mode string, content []byte) {
		fmt.Fprintf(&out, "  - path: %s\n    permissions: '%s'\n    owner: voltbus:voltbus\n    defer: true\n    encoding: b64\n    content: %s\n",
			path, mode, base64.StdEncoding.EncodeToString(content))
	}
	file(configPlace, "0644", []byte(config))
	for _, name := range []string{ParentFile, KeyFile} {
		content, err := os.ReadFile(filepath.Join(place, "data", name))
		if err != nil {
			return "", fault.E("enrol.WriteBundle", fault.Unavailable, name, err)
		}
		file(dataPlace+"/"+name, "0600", content)
	}
	return out.String(), nil
}

// WriteInventory writes hosts.yaml below dir, which lists the bundles for Ansible.
func WriteInventory(dir string, names []string) error {
	var out strings.Builder
	out.WriteString("# The nodes whose bundles are in this folder; voltbus_bundle is the place of each.\nvoltbus:\n  hosts:\n")
	for _, name := range names {
		fmt.Fprintf(&out, "    %s:\n      voltbus_bundle: \"{{ inventory_dir }}/%s\"\n", name, name)
	}
	return write("enrol.WriteInventory", filepath.Join(dir, "hosts.yaml"), out.String())
}

// write writes a file that only its owner may read.
func write(op, file, content string) error {
	if err := (atomicfile.Writer{}).Write(file, []byte(content), 0o600); err != nil {
		return fault.E(op, fault.Unavailable, file, err)
	}
	return nil
}
