package node_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"voltbus/identity"
	"voltbus/lab/modbusfarm"
	"voltbus/point"
)

// overheard counts the messages by the form and the device of their subjects.
type overheard struct {
	mu       sync.Mutex
	messages map[string]int
	octets   map[string]int
	bodies   map[string]string // the newest by subject
}

func newOverheard() *overheard {
	return &overheard{messages: map[string]int{}, octets: map[string]int{}, bodies: map[string]string{}}
}

func (h *overheard) take(subject string, data []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	parts := strings.Split(subject, ".")
	form := parts[1]
	if form == "breadth" {
		form += "_" + parts[2]
	}
	h.messages[form]++
	h.octets[form] += len(subject) + len(data)
	h.bodies[subject] = string(data)
}

func (h *overheard) body(subject string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bodies[subject]
}

const fourForms = `
live: {publish: [breadth_scan, breadth_point]}
devices:
  - {path: site/boiler, driver: modbus, interval: 200ms, publish: [scan, point], config: {address: "%s", registry: boiler.csv}}
  - {path: site/zone, driver: sim, interval: 200ms, config: {model: zone}}
  - {path: site/meter, driver: sim, interval: 200ms, publish: [], config: {model: meter}}
`

func TestADevicePublishesTheFormsThatItOrTheNodeNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "boiler.csv"), modbusfarm.Registry, 0o600); err != nil {
		t.Fatal(err)
	}
	address, stop := boiler(t, "127.0.0.1:0")
	defer stop()
	r := run(t, load(t, dir, listenAnywhere+fmt.Sprintf(fourForms, address)))
	agent := r.register("watch", identity.Grants{Subscribe: []point.Pattern{"site/**"}})
	key, err := identity.OpenKey(filepath.Join(dir, "data", "admin.nk"))
	if err != nil {
		t.Fatal(err)
	}
	admin, _, err := r.dial(dir, key)
	if err != nil {
		t.Fatal(err)
	}
	one, trouble, err := r.dial(dir, agent)
	if err != nil {
		t.Fatal(err)
	}
	all, granted := newOverheard(), newOverheard()
	if err := admin.Listen("live.>", 0, all.take); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"live.scan.site.>", "live.point.site.*.supply_temp", "live.breadth.scan.*.site", "live.breadth.point.temp.*.site"} {
		if err := one.Listen(subject, 0, granted.take); err != nil {
			t.Fatal(err)
		}
	}
	for _, subject := range []string{
		"live.scan.site.boiler", "live.point.site.boiler.supply_temp", "live.breadth.scan.zone.site", "live.breadth.point.temp.zone.site",
	} {
		eventually(t, "the administrator hears "+subject, func() bool { return all.body(subject) != "" })
		eventually(t, "the agent hears "+subject, func() bool { return granted.body(subject) != "" })
		var body struct{ Device, Point string }
		path := "site/boiler"
		if strings.Contains(subject, "zone") {
			path = "site/zone"
		}
		if err := json.Unmarshal([]byte(granted.body(subject)), &body); err != nil || !strings.HasPrefix(body.Device+body.Point, path) {
			t.Errorf("on %s came %s, %v", subject, granted.body(subject), err)
		}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	for subject := range all.bodies {
		breadth := strings.HasPrefix(subject, "live.breadth.")
		if strings.Contains(subject, "meter") || breadth == strings.Contains(subject, "boiler") {
			t.Errorf("%s came, which the configuration does not name", subject)
		}
	}
	select {
	case err := <-trouble:
		t.Error(err)
	default:
	}
}
