package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/testing/peers"
)

const gatewayNode = `
node: {name: campus}
devices:
  - {path: site/zone1, driver: sim, interval: 100ms, config: {model: zone}}
`

const gatewayMap = `
local: 10.66.0.2/24
device: 4001
name: campus
points:
  - {point: site/zone1/temp, instance: 1, trend_log: 1}
patterns:
  - {pattern: site/zone1/setpoint, trend_logs: true}
trend: {interval: 1s}
writers:
  - {from: [10.66.0.3], token_file: bms.token}
`

// A building system of bacpypes3 commands a simulated zone through control, and relinquishes it.
func TestABuildingSystemCommandsAPointOfANodeThroughControl(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.3/24") {
		return
	}
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("voltbus.yaml", gatewayNode)
	write("map.yaml", gatewayMap)
	startNode(t, folder)
	write("bms.token", voltbusIn(t, folder, "token", "own", "create", "--role", "operator", "bms"))
	if list := voltbusIn(t, folder, "bacnet", "map", "--map", "map.yaml", "-f", "csv"); !strings.Contains(list, "\nanalog-value:1,site/zone1/setpoint,site/zone1/setpoint,degrees-celsius,true,trend-log:2,") {
		t.Errorf("the list of objects:\n%s", list)
	}
	background(t, folder, "device 4001 with 2 objects listens on 10.66.0.2:47808", "bacnet", "serve", "--map", "map.yaml")
	peer := peers.BACnetClient(t, "10.66.0.3/24")
	reads := func(what, want string) {
		t.Helper()
		for range 1000 { // the device answers in its own time
			peer.Do(t, "read 10.66.0.2 %s", what)
			if peer.Await(t, "read") == want {
				return
			}
		}
		t.Errorf("%s is never %s", what, want)
	}
	reads("analog-value,1 present-value", "21.0")
	peer.Do(t, "write 10.66.0.2 analog-value,1 real 24.5 8")
	peer.Await(t, "written")
	reads("analog-value,1 priority-array 8", "24.5")
	reads("analog-value,1 present-value", "24.5")
	who := voltbusIn(t, folder, "who", "site/zone1")
	for _, text := range []string{"24.5", "person:admin", "BACnet write from 10.66.0.3:47808 at priority 8"} {
		if !strings.Contains(who, text) {
			t.Errorf("there is no %q in\n%s", text, who)
		}
	}
	if log := voltbusIn(t, folder, "audit", "list", "--search", "setpoint"); !strings.Contains(log, "10.66.0.3:47808") {
		t.Errorf("the audit log does not tell of the station:\n%s", log)
	}
	peer.Do(t, "write 10.66.0.2 analog-value,1 real 24.5 3") // above what an operator, and the mapping, allow
	peer.Await(t, "declined property write-access-denied")
	peer.Do(t, "write 10.66.0.2 analog-value,1 null 0 8")
	peer.Await(t, "written")
	reads("analog-value,1 priority-array 8", "null")
	reads("analog-value,1 present-value", "21.0")
	peer.Do(t, "range 10.66.0.2 trend-log,1 position 1 10")
	if record := peer.Await(t, "record"); !strings.Contains(record, "realValue") {
		t.Errorf("the first record is %q", record)
	}
	peer.Await(t, "done range")
}
