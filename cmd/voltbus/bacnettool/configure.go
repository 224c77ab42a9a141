package bacnettool

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/driver/bacnet/network"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/driver/bacnet/survey"
	"voltbus/fault"
	"voltbus/internal/plural"
)

// configFile is the configuration that a scan makes.
const configFile = "voltbus.yaml"

// configure makes a configuration of devices, or says what has changed since one was made.
func (s *scanner) configure(cmd *cobra.Command, found []survey.Found) error {
	if _, err := os.Stat(filepath.Join(s.folder, configFile)); err == nil {
		return s.compare(cmd, found)
	}
	files := map[string][]byte{configFile: s.yaml(found)}
	points := 0
	for i := range found {
		if f := &found[i]; len(f.Points) > 0 {
			files[registryName(f)] = registryOf(f.Points)
			points += len(f.Points)
		}
	}
	if err := os.MkdirAll(s.folder, 0o755); err != nil { //nolint:gosec // a folder for people to edit
		return fault.E("bacnet", fault.Invalid, s.folder, err)
	}
	for name, data := range files {
		if err := create(filepath.Join(s.folder, name), data); err != nil {
			return fault.E("bacnet", fault.Conflict, name, fmt.Errorf("cannot be written: %w; name a folder that has no such file", err))
		}
	}
	cmd.Printf("%s, %s: %s\n", plural.Of(len(found), "device"), plural.Of(points, "point"), filepath.Join(s.folder, configFile))
	return nil
}

// create writes a file that is not there yet.
func create(name string, data []byte) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a file for people to edit
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Close())
}

// registryName is the file with the points of a device.
func registryName(f *survey.Found) string {
	name := "device-" + strconv.Itoa(int(f.Instance))
	if f.Twin {
		name += "-" + pointlist.Readable(network.AddressText(f.Address))
	}
	return name + ".csv"
}

// yaml writes the configuration. Quoted texts of Go are texts of YAML.
func (s *scanner) yaml(found []survey.Found) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Made by voltbus bacnet scan. Registries are the CSV files beside it.\nnode: {name: %q}\ndevices:\n", pointlist.Readable(filepath.Base(s.path)))
	used := map[string]bool{}
	for i := range found {
		f := &found[i]
		name := pointlist.Readable(f.About.Name)
		if name == "" || used[name] {
			name = strings.TrimLeft(name+"_"+strconv.Itoa(int(f.Instance)), "_")
		}
		if used[name] {
			name += "_" + pointlist.Readable(network.AddressText(f.Address))
		}
		used[name] = true
		if len(f.Points) == 0 {
			fmt.Fprintf(&b, "  # %q: device %d at %s shows no points\n", name, f.Instance, network.AddressText(f.Address))
			continue
		}
		fmt.Fprintf(&b, "  %q:\n    driver: bacnet\n    interval: 1m\n    config:\n", s.path+"/"+name)
		for _, line := range []struct{ key, value string }{{"local", s.local}, {"bbmd", s.bbmd}} {
			if line.value != "" {
				fmt.Fprintf(&b, "      %s: %q\n", line.key, line.value)
			}
		}
		fmt.Fprintf(&b, "      device: %d\n", f.Instance)
		if f.Twin {
			fmt.Fprintf(&b, "      address: %q  # another device has the same instance: give one of them another\n", network.AddressText(f.Address))
		}
		fmt.Fprintf(&b, "      registry: %q\n", registryName(f))
	}
	return b.Bytes()
}

// registryOf writes points as a registry.
func registryOf(points []survey.Point) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{survey.Columns}
	for i := range points {
		row := make([]string, len(survey.Columns))
		for k, column := range survey.Columns {
			row[k] = points[i].Entry[column]
		}
		rows = append(rows, row)
	}
	_ = w.WriteAll(rows) // to memory
	return b.Bytes()
}

// compare says what is new and what is gone since the configuration was made.
func (s *scanner) compare(cmd *cobra.Command, found []survey.Found) error {
	before, err := filepath.Glob(filepath.Join(s.folder, "device-*.csv"))
	if err != nil {
		return err
	}
	gone := make(map[string]bool, len(before))
	for _, file := range before {
		gone[filepath.Base(file)] = true
	}
	changes := 0
	say := func(format string, args ...any) { changes++; cmd.Printf(format+"\n", args...) }
	for i := range found {
		f := &found[i]
		name := registryName(f)
		old, err := os.ReadFile(filepath.Join(s.folder, name)) //nolint:gosec // of the folder that was named
		switch {
		case errors.Is(err, fs.ErrNotExist):
			say("new device %d at %s: %s, %s", f.Instance, network.AddressText(f.Address), f.About.Name, plural.Of(len(f.Points), "point"))
		case err != nil:
			return err
		case f.Err == nil:
			comparePoints(name, old, f.Points, say)
		}
		delete(gone, name)
	}
	for _, name := range sortedKeys(gone) {
		say("gone: the device of %s", name)
	}
	if changes == 0 {
		cmd.Printf("nothing has changed: %s\n", plural.Of(len(found), "device"))
	}
	return nil
}

func sortedKeys(set map[string]bool) []string {
	keys := make([]string, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// comparePoints compares the objects of a registry with those that a device shows.
func comparePoints(name string, old []byte, points []survey.Point, say func(string, ...any)) {
	entries, _ := pointlist.ParseCSV("registry", name, bytes.NewReader(old))
	gone := make(map[string]string, len(entries))
	for i := range entries {
		gone[entries[i].Object] = entries[i].Name
	}
	for i := range points {
		object := points[i].Entry["object"]
		if _, known := gone[object]; !known {
			say("%s: new %s %s", name, object, points[i].Entry["name"])
		}
		delete(gone, object)
	}
	objects := make(map[string]bool, len(gone))
	for object := range gone {
		objects[object] = true
	}
	for _, object := range sortedKeys(objects) {
		say("%s: gone %s %s", name, object, gone[object])
	}
}
