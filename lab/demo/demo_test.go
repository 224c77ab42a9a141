package demo_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/config"
	"voltbus/config/edit"
	"voltbus/driver/all"
	"voltbus/lab/demo"
)

// start writes the files of a start, and returns what they say.
func start(t *testing.T, s demo.Site) (string, *config.Config) {
	t.Helper()
	file, err := s.Write()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	return file, cfg
}

func addressOf(cfg *config.Config, path string) string {
	for i := range cfg.Devices {
		if string(cfg.Devices[i].Path) == path {
			return cfg.Devices[i].Config.LineName()
		}
	}
	return "absent"
}

func TestTheDemonstrationKeepsTheDevicesThatWereAdded(t *testing.T) {
	s := demo.Site{Dir: filepath.Join(t.TempDir(), "demo"), HTTP: "127.0.0.1:8080", Bus: "127.0.0.1:4222", Boiler: "127.0.0.1:5020"}
	file, first := start(t, s)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	next, _, err := edit.AddDevice(config.Place{File: file, Kinds: all.Kinds()}, text, edit.NewDevice{
		Path: "mine/zone", Driver: "sim", Config: []byte(`{"model":"zone"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(next, "# my remark\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.HTTP, s.Bus, s.Boiler = "127.0.0.1:0", "127.0.0.1:1", "127.0.0.1:5021"
	_, again := start(t, s)
	if n := len(again.Devices); n != len(first.Devices)+1 || addressOf(again, "mine/zone") == "absent" {
		t.Errorf("there are %d devices after %d and one that was added", n, len(first.Devices))
	}
	if again.Listen.HTTP != "127.0.0.1:0" || again.Listen.Bus != "127.0.0.1:1" || addressOf(again, "demo/plant/boiler1") != "tcp://127.0.0.1:5021" {
		t.Errorf("it listens at %+v and reads %s", again.Listen, addressOf(again, "demo/plant/boiler1"))
	}
	if text, err = os.ReadFile(file); err != nil || !strings.Contains(string(text), "# my remark") {
		t.Errorf("the file is %s, %v", text, err)
	}
}

func TestAFileThatSaysThatItIsWrittenOverIs(t *testing.T) {
	s := demo.Site{Dir: t.TempDir(), HTTP: "127.0.0.1:8080", Bus: "127.0.0.1:4222", Boiler: "127.0.0.1:5020"}
	old := "# \"voltbus demo\" writes this file at each start.\nlisten: {http: off}\ndevices: []\n"
	if err := os.WriteFile(filepath.Join(s.Dir, demo.ConfigFile), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, cfg := start(t, s); len(cfg.Devices) == 0 || cfg.Listen.HTTP.Off() {
		t.Errorf("the configuration is still %+v", cfg)
	}
}

func TestAListenSectionInAnotherFormIsToldAndKept(t *testing.T) {
	s := demo.Site{Dir: t.TempDir(), HTTP: "127.0.0.1:8080", Bus: "127.0.0.1:4222", Boiler: "127.0.0.1:5020"}
	file := filepath.Join(s.Dir, demo.ConfigFile)
	mine := "listen: {http: 127.0.0.1:1}\n"
	if err := os.WriteFile(file, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(); err == nil || !strings.Contains(err.Error(), `below "listen:"`) {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != mine {
		t.Errorf("the file is now %s, %v", text, err)
	}
}

func TestTheDevicesOfTheCampusAreThoseThatAreFound(t *testing.T) {
	out, theirs := io.Pipe()
	input, hold := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- demo.ServeCampus(t.Context(), input, theirs) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), "listens at ")
	if err != nil || !found {
		t.Fatalf("the campus says %q, %v", line, err)
	}
	s := demo.Site{Dir: t.TempDir(), HTTP: "127.0.0.1:8080", Bus: "127.0.0.1:4222", Boiler: "127.0.0.1:5020"}
	if s.Campus, err = demo.Find(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	_, cfg := start(t, s)
	devices, points := 0, 0
	for i := range cfg.Devices {
		if d := &cfg.Devices[i]; strings.HasPrefix(string(d.Path), "campus/") {
			devices++
			points += len(d.Config.Points())
		}
	}
	if devices != 50 || points != 5000 {
		t.Errorf("the configuration has %d devices with %d points", devices, points)
	}
	_ = hold.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
