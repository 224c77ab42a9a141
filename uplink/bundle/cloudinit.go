package bundle

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"voltbus/deploy/systemd"
	"voltbus/fault"
	"voltbus/uplink/enrol"
)

const userDataHead = `#cloud-config
# Holds a private key: keep it like one. The program itself is not in here: it has to be in the image, as
# ` + programPlace + `.
users:
  - default
  - name: voltbus
    gecos: Voltbus node
    system: true
    no_create_home: true
    homedir: ` + dataPlace + `
    shell: /usr/sbin/nologin
write_files:
`

// What is done after the files exist. cloud-init creates the folders as root.
const userDataTail = `runcmd:
  - [install, -d, -m, '0770', -o, root, -g, voltbus, ` + configFolder + `]
  - [install, -d, -m, '0750', -o, root, -g, voltbus, ` + configFolder + `/devices.d]
  - [install, -d, -m, '0700', -o, voltbus, -g, voltbus, ` + dataPlace + `]
  - [systemctl, daemon-reload]
  - [systemctl, enable, --now, voltbus.service]
`

// userData is what cloud-init does on the first start of a machine: it installs user, configuration, key,
// membership and unit, and starts the service.
func userData(place, config string) (string, error) {
	var out strings.Builder
	out.WriteString(userDataHead)
	file := func(path, mode, owner string, content []byte) {
		fmt.Fprintf(&out, "  - path: %s\n    permissions: '%s'\n    owner: %s\n    defer: true\n    encoding: b64\n    content: %s\n",
			path, mode, owner, base64.StdEncoding.EncodeToString(content))
	}
	file(configFolder+"/voltbus.yaml", "0640", "root:voltbus", []byte(config))
	for _, name := range []string{enrol.ParentFile, enrol.KeyFile} {
		content, err := os.ReadFile(filepath.Join(place, dataFolder, name))
		if err != nil {
			return "", fault.E("bundle.Write", fault.Unavailable, name, err)
		}
		file(dataPlace+"/"+name, "0600", "voltbus:voltbus", content)
	}
	file(unitPlace, "0644", "root:root", []byte(systemd.Unit))
	out.WriteString(userDataTail)
	return out.String(), nil
}

// metaData names the machine. cloud-init does its work once for each instance.
func metaData(name string) string {
	return fmt.Sprintf("instance-id: voltbus-%s\nlocal-hostname: %s\n", name, strings.ToLower(strings.ReplaceAll(name, "_", "-")))
}
