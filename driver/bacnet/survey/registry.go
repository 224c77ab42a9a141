package survey

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/driver/bacnet/network"
	"voltbus/driver/registry"
)

// Configuration says how devices that were found become devices of a node.
type Configuration struct {
	Path        string        // that the paths of the devices begin with
	Local, BBMD string        // of the devices' configuration; left out if empty
	More        string        // further lines of the devices' configuration, indented by six spaces
	Interval    time.Duration // between two reads
}

// Registries formats the points of each device as a registry, by the name of its file. A device without points has none.
func Registries(found []Found) map[string][]byte {
	files := make(map[string][]byte, len(found))
	for i := range found {
		if f := &found[i]; len(f.Points) > 0 {
			files[f.RegistryName()] = registryOf(f.Points)
		}
	}
	return files
}

// RegistryName is the name of the file with the points of a device.
func (f *Found) RegistryName() string {
	name := "device-" + strconv.Itoa(int(f.Instance))
	if f.Twin {
		name += "-" + registry.Readable(network.AddressText(f.Address))
	}
	return name + ".csv"
}

// Devices formats the entries of the list "devices" of a configuration. Quoted Go strings are valid YAML strings.
func (c Configuration) Devices(found []Found) []byte {
	var b bytes.Buffer
	used := map[string]bool{}
	for i := range found {
		c.device(&b, &found[i], used)
	}
	return b.Bytes()
}

// device formats the entry of a device; used are the names that others have.
func (c Configuration) device(b *bytes.Buffer, f *Found, used map[string]bool) {
	name := registry.Readable(f.About.Name)
	if name == "" || used[name] {
		name = strings.TrimLeft(name+"_"+strconv.Itoa(int(f.Instance)), "_")
	}
	if used[name] {
		name += "_" + registry.Readable(network.AddressText(f.Address))
	}
	used[name] = true
	if len(f.Points) == 0 {
		fmt.Fprintf(b, "  # %q: device %d at %s shows no points\n", name, f.Instance, network.AddressText(f.Address))
		return
	}
	fmt.Fprintf(b, "  - path: %q\n    driver: bacnet\n    interval: %v\n    config:\n", c.Path+"/"+name, c.Interval)
	for _, line := range []struct{ key, value string }{{"local", c.Local}, {"bbmd", c.BBMD}} {
		if line.value != "" {
			fmt.Fprintf(b, "      %s: %q\n", line.key, line.value)
		}
	}
	b.WriteString(c.More)
	fmt.Fprintf(b, "      device: %d\n", f.Instance)
	if f.Twin {
		fmt.Fprintf(b, "      address: %q  # another device has the same instance: give one of them another\n", network.AddressText(f.Address))
	}
	fmt.Fprintf(b, "      registry: %q\n", f.RegistryName())
}

// registryOf formats points as a registry, with a column of guessed tags if there are any.
func registryOf(points []Point) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	guesses, guessed := make([]string, len(points)), false
	for i := range points {
		guesses[i] = Guess(&points[i])
		guessed = guessed || guesses[i] != ""
	}
	columns := slices.Clone(Columns)
	if guessed {
		columns = append(columns, GuessColumn)
	}
	rows := [][]string{columns}
	for i := range points {
		row := make([]string, len(columns))
		for k, column := range Columns {
			row[k] = points[i].Entry[column]
		}
		if guessed {
			row[len(Columns)] = guesses[i]
		}
		rows = append(rows, row)
	}
	_ = w.WriteAll(rows) // to memory, which cannot fail
	return b.Bytes()
}
