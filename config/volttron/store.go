package volttron

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"voltbus/fault"
)

const (
	driverStore  = "platform.driver"
	actuator     = "platform.actuator"
	devicePrefix = "devices/"
	storeEnding  = ".store"
	storeFolder  = "configuration_store"
	maxStore     = 256 << 20
)

// entry is a configuration in a store: its text, of type json, csv or raw.
type entry struct {
	Type string `json:"type"`
	Data string `json:"data"`
}

// store is the configuration of one agent.
type store struct {
	name    string // identity of the agent
	entries map[string]entry
}

var errNoStore = errors.New("holds no file NAME.store; name a configuration_store, or the VOLTTRON_HOME above it")

// openStores reads all stores of a folder, or a single file.
func openStores(at string) ([]store, error) {
	const op = "volttron.Convert"
	info, err := os.Stat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.E(op, fault.NotFound, at, errors.New("does not exist; name a configuration_store"))
	}
	if err != nil {
		return nil, fault.E(op, fault.Refused, at, err)
	}
	files := []string{at}
	if info.IsDir() {
		for _, folder := range []string{at, filepath.Join(at, storeFolder)} {
			if files, err = filepath.Glob(filepath.Join(folder, "*"+storeEnding)); err != nil || len(files) > 0 {
				break
			}
		}
	}
	if len(files) == 0 {
		return nil, fault.E(op, fault.NotFound, at, errNoStore)
	}
	slices.Sort(files)
	stores := make([]store, 0, len(files))
	for _, file := range files {
		s, err := openStore(file)
		if err != nil {
			return nil, err
		}
		stores = append(stores, s)
	}
	return stores, nil
}

func openStore(file string) (store, error) {
	const op = "volttron.Convert"
	s := store{name: strings.TrimSuffix(filepath.Base(file), storeEnding)}
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxStore) {
		return s, fault.E(op, fault.Invalid, file, fmt.Errorf("is no file of at most %d MiB", maxStore>>20))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return s, fault.E(op, fault.Refused, file, err)
	}
	if err := json.Unmarshal(data, &s.entries); err != nil {
		return s, fault.E(op, fault.Invalid, file, fmt.Errorf("is not the JSON of a configuration store: %w", err))
	}
	return s, nil
}

// names returns the names of the entries, sorted.
func (s *store) names() []string { return slices.Sorted(maps.Keys(s.entries)) }

// driver reports whether the store belongs to the agent that reads devices, whatever its name.
func (s *store) driver() bool {
	return s.name == driverStore || slices.ContainsFunc(s.names(), func(n string) bool { return strings.HasPrefix(n, devicePrefix) })
}

// find returns the name of an entry, ignoring case; "" if there is none.
func (s *store) find(name string) string {
	for known := range s.entries {
		if strings.EqualFold(known, strings.TrimSpace(name)) {
			return known
		}
	}
	return ""
}

// object decodes an entry as a JSON object with comments.
func (e entry) object() (map[string]any, error) {
	var out map[string]any
	if err := json.Unmarshal(plain(e.Data), &out); err != nil {
		return nil, fmt.Errorf("is not a JSON object: %w", err)
	}
	return out, nil
}

// plain returns JSON without comments: from # or // to the end of a line, and between /* and */.
func plain(text string) []byte {
	out := make([]byte, 0, len(text))
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\' && i+1 < len(text):
			out = append(out, c, text[i+1])
			i++
			continue
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '#' || strings.HasPrefix(text[i:], "//"):
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				return out
			}
			i += end - 1
			continue
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i:], "*/")
			if end < 0 {
				return out
			}
			i += end + 1
			continue
		}
		out = append(out, c)
	}
	return out
}
