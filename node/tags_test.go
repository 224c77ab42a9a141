package node_test

import (
	"testing"

	"voltbus/api/client"
)

func TestConfiguredTagsWinOverThoseOfTheDriver(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere+`
devices:
  - {path: site/zone, driver: sim, interval: 1h, tags: {equip: office, floor: 2}, config: {model: zone}}
  - {path: site/other, driver: sim, interval: 1h, config: {model: zone}}
  - path: site/rtu
    driver: modbus
    interval: 1h
    tags: {equip: rtu, floor: 2}
    config: {address: "127.0.0.1:1", registry: [{name: temp, address: 1, type: int16, tags: {equip: sensor}}]}
`))
	points, err := r.Points(t.Context(), client.Filter{Pattern: "site/rtu/temp"})
	if err != nil || len(points.Points) != 1 || points.Points[0].Tags["equip"] != "sensor" || points.Points[0].Tags["floor"] != "2" {
		t.Errorf("a tag of the registry is %+v, %v", points, err)
	}
	points, err = r.Points(t.Context(), client.Filter{Pattern: "site/zone/temp"})
	if err != nil || len(points.Points) != 1 {
		t.Fatalf("%+v, %v", points, err)
	}
	if tags := points.Points[0].Tags; tags["equip"] != "office" || tags["floor"] != "2" {
		t.Errorf("the tags are %v", tags)
	}
	points, err = r.Points(t.Context(), client.Filter{Pattern: "site/other/temp"})
	if err != nil || len(points.Points) != 1 || points.Points[0].Tags["equip"] == "" || points.Points[0].Tags["equip"] == "office" {
		t.Errorf("the driver's own tag is %+v, %v", points, err)
	}
}
