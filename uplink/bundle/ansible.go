package bundle

import (
	_ "embed" // the playbook
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

//go:embed playbook.yaml
var playbook string

// Host is a node in the Ansible inventory.
type Host struct {
	Name   string
	Host   string            // address of the machine for Ansible; "" for its name
	Labels map[string]string // further labels
}

const hostsFile = "hosts.yaml"

const hostsHead = `# The nodes whose bundles are in this folder, for Ansible. What is added to a node here stays.
`

// inventory is hosts.yaml: the variables of each host. Other existing groups are kept.
type inventory map[string]struct {
	Hosts map[string]map[string]any `yaml:"hosts"`
	Rest  map[string]any            `yaml:",inline"`
}

var errInventory = errors.New("is not the inventory that voltbus provision writes; mend it, or move it away")

// WriteInventory lists hosts in hosts.yaml below dir. Existing nodes and variables are kept.
func WriteInventory(dir string, hosts []Host) error {
	file := filepath.Join(dir, hostsFile)
	all := inventory{}
	switch old, err := os.ReadFile(file); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fault.E("bundle.WriteInventory", fault.Unavailable, file, err)
	default:
		if err := yaml.Unmarshal(old, &all); err != nil {
			return fault.E("bundle.WriteInventory", fault.Invalid, file, fmt.Errorf("%w: %w", errInventory, err))
		}
	}
	group := all["voltbus"]
	if group.Hosts == nil {
		group.Hosts = map[string]map[string]any{}
	}
	for _, h := range hosts {
		vars := group.Hosts[h.Name]
		if vars == nil {
			vars = map[string]any{}
		}
		vars["voltbus_bundle"] = "{{ inventory_dir }}/" + h.Name
		if h.Host != "" {
			vars["ansible_host"] = h.Host
		}
		if len(h.Labels) > 0 {
			vars["voltbus_labels"] = h.Labels
		}
		group.Hosts[h.Name] = vars
	}
	all["voltbus"] = group
	text, err := yaml.Marshal(all)
	if err != nil {
		return fault.E("bundle.WriteInventory", fault.Internal, file, err)
	}
	if err := (atomicfile.Writer{}).Write(file, append([]byte(hostsHead), text...), 0o600); err != nil {
		return fault.E("bundle.WriteInventory", fault.Unavailable, file, err)
	}
	return nil
}
