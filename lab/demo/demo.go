// Package demo prepares the demonstration site: a configuration with simulated buildings, a boiler behind Modbus TCP and, if it is wanted, a
// campus of BACnet devices, and the processes that simulate the boiler and the campus.
package demo

import (
	"bytes"
	_ "embed" // for the site's configuration
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"voltbus/driver/bacnet/survey"
	"voltbus/fault"
	"voltbus/lab/modbusfarm"
)

var (
	//go:embed voltbus.yaml
	settings string
	//go:embed site.yaml
	site string
)

// ConfigFile is the name of the configuration in the demonstration's directory. It is kept; siteFile, which it
// includes, is written at each start.
const (
	ConfigFile = "voltbus.yaml"
	siteFile   = "site.yaml"
)

// writtenOver stands in the files of versions that put everything into ConfigFile, at each start.
const writtenOver = `"voltbus demo" writes this file at each start.`

// Site says where the demonstration lives and listens.
type Site struct {
	Dir    string  // its directory; made if absent
	HTTP   string  // address of the page and the API
	Bus    string  // address for bus clients
	Boiler string  // address of the boiler
	Campus *Campus // what was found there; nil: there is none
}

// Write writes the devices of the site and the boiler's register list into the directory, and returns the
// configuration's file, which is made if it is absent. Of one that is there only the addresses of the page and
// the bus are changed: devices that a person added stay, and so does the data beside it.
func (s Site) Write() (string, error) {
	if err := os.MkdirAll(s.Dir, 0o750); err != nil {
		return "", fmt.Errorf("make the demonstration's directory: %w", err)
	}
	file := filepath.Join(s.Dir, ConfigFile)
	text, err := s.settings(file)
	if err != nil {
		return "", err
	}
	devices := strings.NewReplacer("${BOILER}", s.Boiler, "${BEGIN}", time.Now().UTC().Format(time.RFC3339)).Replace(site)
	files := map[string][]byte{"boiler.csv": modbusfarm.Registry}
	if s.Campus != nil {
		maps.Copy(files, survey.Registries(s.Campus.Found))
		devices += string(s.Campus.devices())
	}
	files[siteFile], files[ConfigFile] = []byte(devices), text
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(s.Dir, name), content, 0o600); err != nil {
			return "", fmt.Errorf("write the demonstration's files: %w", err)
		}
	}
	return file, nil
}

// settings returns what is to stand in the configuration's file.
func (s Site) settings(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && bytes.Contains(text, []byte(writtenOver))) {
		return []byte(strings.NewReplacer("${HTTP}", s.HTTP, "${BUS}", s.Bus).Replace(settings)), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the demonstration's settings: %w", err)
	}
	for key, address := range map[string]string{"http": s.HTTP, "bus": s.Bus} {
		line := regexp.MustCompile(`(?m)^(listen:[ \t]*\r?\n(?:[ \t]+.*\n)*?[ \t]+` + key + `:)[^\r\n]*`)
		if !line.Match(text) {
			return nil, fault.E("demo", fault.Invalid, file, fmt.Errorf(
				`has no line "%s:" below "listen:", where the demonstration writes its address; add it, or remove the file to begin anew`, key))
		}
		text = line.ReplaceAll(text, []byte("${1} "+address))
	}
	return text, nil
}
