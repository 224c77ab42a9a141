package node_test

import (
	"fmt"
	"testing"

	"voltbus/api/client"
	"voltbus/operation/nodes"
	"voltbus/testing/peers"
)

func TestAPointThatASubscribedDeviceDoesNotHaveIsNamedEverywhere(t *testing.T) {
	_, serve := relay(t)
	address, stop := serve("127.0.0.1:0")
	defer stop()
	f := &faulty{&commanded{running: run(t, load(t, t.TempDir(), listenAnywhere+`
devices:
  - path: site/relay
    driver: dnp3
    interval: 0
    subscribe: true
    config:
      address: "`+address+`"
      timeout: 1s
      registry:
        - {name: power, type: analog_input, index: 0}
        - {name: nix, type: analog_input, index: 99}
`))}}
	f.says("registers", "site/relay", "site/relay answers only in part: the device does not give 1 of 2 points: nix (analog_input 99)")
}

func TestADeviceThatAnswersOnlyWithErrorsIsNotSaidToBeSilent(t *testing.T) {
	t.Parallel()
	peer := peers.Modbus(t)
	f := &faulty{&commanded{running: run(t, load(t, t.TempDir(), listenAnywhere+fmt.Sprintf(`
devices:
  site/absent:
    driver: modbus
    interval: 200ms
    config:
      address: %q
      timeout: 2s
      unit: 9
      registry: [{name: a, address: 88, table: holding, type: int16}]
  site/none:
    driver: modbus
    interval: 200ms
    config:
      address: %q
      timeout: 2s
      unit: 1
      registry: [{name: nothing, address: 92, table: holding, type: uint16}]
`, peer.Addr, peer.Addr)))}}
	const says = " answers, but none of its points can be read: "
	f.says("registers", "site/absent", "site/absent"+says+"unit 9 at")
	f.says("registers", "site/absent", "answers only with device failure; check the unit number")
	f.says("registers", "site/none", "site/none"+says+"the device refuses 1 of 1 registers: nothing (holding 92)")
	eventually(t, "the node counts them as failing", func() bool {
		list, err := client.Do(wait(t), f.Client, nodes.List, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Nodes) == 1 && list.Nodes[0].Devices == 2 && list.Nodes[0].DevicesFailing == 2
	})
}
