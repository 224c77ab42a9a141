package sunspecmap_test

import (
	"errors"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"voltbus/driver"
	"voltbus/driver/modbus"
	"voltbus/driver/modbus/sunspecmap"
	"voltbus/fault"
	"voltbus/internal/folder"
	"voltbus/point"
	"voltbus/protocol/sunspec"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// configOf returns the configuration of a device with the registry that a scan wrote.
func configOf(t *testing.T, address, registry string) *modbus.Config {
	t.Helper()
	c := modbus.NewConfig()
	c.Address, c.Unit = address, 1
	c.Registry.File = filepath.Base(registry)
	if problems := append(c.Load(folder.Any(filepath.Dir(registry))), c.Validate()...); len(problems) > 0 {
		t.Fatalf("the registry has problems: %v", errors.Join(problems...))
	}
	return c
}

// scan finds the models of the inverter and writes its registry.
func scan(t *testing.T, address string) ([]sunspec.Found, string) {
	t.Helper()
	c := modbus.NewConfig()
	c.Address = address
	p, err := modbus.DialProbe(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	found, err := sunspecmap.Scan(t.Context(), p, 1)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "inverter.csv")
	f, err := os.Create(file)
	if err == nil {
		err = errors.Join(sunspecmap.Write(f, sunspecmap.Rows(found), false), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return found, file
}

func session(t *testing.T, c *modbus.Config) driver.Session {
	t.Helper()
	line, err := modbus.Kind().Dial(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = line.Close() })
	s, err := line.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAScannedInverterReadsAsPysunspec2ReadsIt(t *testing.T) {
	peer := peers.StartedSunSpec(t)
	found, registry := scan(t, peer.Addr)
	names := map[uint16]string{}
	for _, f := range found {
		if f.Model != nil {
			names[f.ID] = f.Model.Group.Name
		}
	}
	if len(found) != 7 || len(names) != 6 || found[2].ID != 64999 || found[2].Model != nil {
		t.Fatalf("the scan found %d models, of which are published %v", len(found), names)
	}
	c := configOf(t, peer.Addr, registry)
	s := session(t, c)
	var paths []string
	infos := map[string]point.Info{}
	for _, p := range c.Points() {
		paths = append(paths, string(p.Path))
		infos[string(p.Path)] = p
	}
	samples, err := s.Read(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]point.Sample{}
	for _, one := range samples {
		got[string(one.Point)] = one
	}
	compared := 0
	for _, want := range peer.Read(t) {
		if slices.Contains([]string{"ID", "L", "Pad"}, want.Path) {
			continue
		}
		name := nameOf(names[uint16(want.Model)], want.Path)
		one, there := got[name]
		if want.Value == nil || want.Value == "" {
			if there && one.Quality == point.Good {
				t.Errorf("%s is %v, and pysunspec2 says that the device does not have it", name, one.Value)
			}
			continue
		}
		compared++
		if !there || one.Quality != point.Good || !same(one.Value, want.Value, states(found, want)) {
			t.Errorf("%s is %v (%v), want %v", name, one.Value, one.Quality, want.Value)
		}
		if infos[name].Writable != want.Writable {
			t.Errorf("%s: writable is %v, want %v", name, infos[name].Writable, want.Writable)
		}
	}
	if compared < 40 {
		t.Errorf("only %d points were compared", compared)
	}
	if one := infos[names[103]+"/TmpCab"]; one.Unit != "degC" || one.Description != "Cabinet Temperature" {
		t.Errorf("the cabinet's temperature is described as %+v", one)
	}
}

// nameOf is how the registry names a point of pysunspec2's path.
func nameOf(model, path string) string {
	out := []string{model}
	for part := range strings.SplitSeq(path, ".") {
		if _, err := strconv.Atoi(part); err == nil {
			out[len(out)-1] += "_" + part
		} else {
			out = append(out, part)
		}
	}
	return strings.Join(out, "/")
}

// states returns the names of the states of a point.
func states(found []sunspec.Found, p peers.SunSpecPoint) map[int64]string {
	names := map[int64]string{}
	for i := range found {
		for _, one := range found[i].Points() {
			if int(found[i].ID) == p.Model && one.Path == p.Path && strings.HasPrefix(one.Type, "enum") {
				for _, s := range one.Symbols {
					names[s.Value] = s.Name
				}
			}
		}
	}
	return names
}

func same(v point.Value, want any, states map[int64]string) bool {
	switch want := want.(type) {
	case string:
		return v.Text() == want
	case float64:
		if v.Kind() == point.Text {
			return states[int64(want)] == v.Text()
		}
		f, ok := v.Number()
		return ok && math.Abs(f-want) < 1e-9*math.Max(1, math.Abs(want))
	}
	return false
}

func TestWritesReachTheInverterScaledAndByTheNameOfAState(t *testing.T) {
	peer := peers.StartedSunSpec(t)
	_, registry := scan(t, peer.Addr)
	w, ok := session(t, configOf(t, peer.Addr, registry)).(driver.Writer)
	if !ok {
		t.Fatal("the session cannot write")
	}
	for name, v := range map[string]point.Value{"WMaxLimPct": point.FloatOf(60.5), "WMaxLim_Ena": point.TextOf("enabled")} {
		held, err := w.Write(t.Context(), "controls/"+name, v)
		if err != nil {
			t.Fatalf("write %s: %v", name, err)
		}
		if v.Kind() == point.Float && held != v || v.Kind() == point.Text && held != point.TextOf("ENABLED") {
			t.Errorf("%s holds %v after %v was written", name, held, v)
		}
	}
	want := map[string]float64{"WMaxLimPct": 60.5, "WMaxLim_Ena": 1}
	for _, p := range peer.Read(t) {
		if number, asked := want[p.Path]; asked && p.Model == 123 && p.Value != number {
			t.Errorf("pysunspec2 reads %s as %v, want %v", p.Path, p.Value, number)
		}
	}
	if _, err := w.Write(t.Context(), "controls/WMaxLim_Ena", point.TextOf("perhaps")); err == nil || !strings.Contains(err.Error(), "write DISABLED, ENABLED") {
		t.Errorf("a state that is not one gives %v", err)
	}
	if _, err := w.Write(t.Context(), "inverter/W", point.FloatOf(1)); err == nil {
		t.Error("a point that can only be read was written")
	}
}

func TestADeviceWithoutTheMarkerIsNamed(t *testing.T) {
	peer := peers.Modbus(t)
	c := modbus.NewConfig()
	c.Address = peer.Addr
	p, err := modbus.DialProbe(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := sunspecmap.Scan(t.Context(), p, 1); !errors.Is(err, sunspec.ErrNoMap) {
		t.Errorf("a device without SunSpec gives %v", err)
	}
}

func TestASearchDescribesTheUnitAndGivesItsRegistry(t *testing.T) {
	peer := peers.StartedSunSpec(t)
	kind := sunspecmap.Kind()
	c := modbus.NewConfig()
	c.Address = peer.Addr
	list, err := kind.Search.Run(t.Context(), c)
	if err != nil || len(list) != 1 {
		t.Fatalf("the search finds %+v, %v", list, err)
	}
	n := list[0]
	if n.Name != "SM-10" || n.Detail != "Sunny Makers SM-10 unit 1 at tcp://"+peer.Addr || n.Facts["serial"] != "4711" {
		t.Errorf("the inverter is %q: %q %v", n.Name, n.Detail, n.Facts)
	}
	if !strings.HasPrefix(n.Note, "1 of its 7 models has no published definition") {
		t.Errorf("the note is %q", n.Note)
	}
	if len(n.Parts) != 7 || n.Parts[1].Number != 103 || n.Parts[1].Name != "Inverter (Three Phase)" || n.Parts[1].At != "holding 40070" || n.Parts[1].Points == 0 || n.Parts[2].Name != "" {
		t.Errorf("the models are %+v", n.Parts)
	}
	text, _ := n.Config["registry"].(string)
	file := filepath.Join(t.TempDir(), "list.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	device := configOf(t, peer.Addr, file)
	if len(device.Points()) < 40 {
		t.Errorf("its registry has only %d points", len(device.Points()))
	}
	other := configOf(t, peer.Addr, file)
	other.Unit = 2
	if s := kind.Search; !s.Covers(c, device) || !s.Is(device, &n) || s.Covers(c, other) {
		t.Error("a configured device is told by its address and unit")
	}
}

func TestASearchOfAUnitWithoutSunSpecSaysWhatToDo(t *testing.T) {
	peer := peers.Modbus(t)
	c := modbus.NewConfig()
	c.Address = peer.Addr
	if _, err := sunspecmap.Kind().Search.Run(t.Context(), c); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "whether SunSpec has to be switched on in the device") {
		t.Errorf("a device without SunSpec gives %v", err)
	}
	c.Address = unused(t)
	if _, err := sunspecmap.Kind().Search.Run(t.Context(), c); !fault.Is(err, fault.Unreachable) {
		t.Errorf("an address where nothing listens gives %v", err)
	}
}

// unused returns an address on which nothing listens.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
