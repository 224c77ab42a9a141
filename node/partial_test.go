package node_test

import (
	"fmt"
	"testing"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/control"
	"voltbus/fault"
	controlop "voltbus/operation/control"
	"voltbus/testing/peers"
)

// newHalving is a node with a Modbus server that takes the upper register of a value, and refuses the lower one.
func newHalving(t *testing.T, rules string) *commanded {
	t.Helper()
	peer := peers.Modbus(t)
	r := run(t, load(t, t.TempDir(), listenAnywhere+fmt.Sprintf(`
devices:
  site/plant:
    driver: modbus
    interval: 200ms
    control: [%s]
    config:
      address: %q
      timeout: 2s
      write_multiple: false
      registry:
        - {name: pair, address: 204, table: holding, type: uint32, writable: true}
        - {name: upper, address: 204, table: holding, type: uint16}
        - {name: lower, address: 205, table: holding, type: uint16}
`, rules, peer.Addr)))
	return &commanded{r, peer}
}

// halves is a value by its registers.
func halves(upper, lower uint32) float64 { return float64(upper<<16 | lower) }

// has demands what the device holds, register by register.
func (c *commanded) has(upper, lower int) {
	c.t.Helper()
	list, err := client.Do(wait(c.t), c.Client, controlop.Get, controlop.Points{Points: []string{"site/plant/upper", "site/plant/lower"}})
	if err != nil || string(list.Readings[0].Value) != fmt.Sprint(upper) || string(list.Readings[1].Value) != fmt.Sprint(lower) {
		c.t.Errorf("the device has %+v, %v, want %d and %d", list.Readings, err, upper, lower)
	}
}

// A device takes the first register of a value and refuses the second, with any exception: the former value is in both
// registers again.
func TestAttackADeviceThatTakesHalfOfAValueGetsTheFormerOneBack(t *testing.T) {
	for name, former := range map[string]func(c *commanded){
		"a command stood": func(c *commanded) {
			if r := c.set("pair", halves(5, 100)); r.Output != "held" {
				c.t.Fatalf("gives %+v, %+v", r, r.Error)
			}
		},
		"nobody commanded it": func(c *commanded) {
			c.turn(204, 5)
			c.turn(205, 100)
			eventually(c.t, "the value of the panel is read", func() bool {
				who, err := client.Do(wait(c.t), c.Client, controlop.Who, controlop.Path{Path: "site/plant/pair"})
				return err == nil && len(who.Points) == 1 && string(who.Points[0].Observed) == fmt.Sprint(int(halves(5, 100)))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHalving(t, "")
			former(c)
			before, err := client.Do(wait(t), c.Client, controlop.Who, controlop.Path{Path: "site/plant/pair"})
			if err != nil {
				t.Fatal(err)
			}
			for exception, kind := range map[uint32]fault.Kind{2: fault.Rejected, 3: fault.Rejected, 4: fault.Rejected, 6: fault.Unavailable} {
				c.declines("pair", halves(9, exception), kind)
				eventually(t, "what was there is back", func() bool {
					who, err := client.Do(wait(t), c.Client, controlop.Who, controlop.Path{Path: "site/plant/pair"})
					return err == nil && len(who.Points[0].Array) == len(before.Points[0].Array) && who.Points[0].Output == "held"
				})
				c.has(5, 100)
			}
			c.hears(t, "control.write-failed", "site/plant/pair", "only the first 1 of 2 registers")
		})
	}
}

// If the former value is refused too, that is a mismatch, told with what the device has, until the device takes what it
// is to have.
func TestAttackADeviceThatKeepsHalfOfAValueIsAMismatch(t *testing.T) {
	for name, change := range map[string]struct {
		former func(c *commanded)
		half   func(c *commanded)
		level  int
	}{
		"a command": {
			half:  func(c *commanded) { c.declines("pair", halves(9, 7), fault.Rejected) },
			level: 1,
		},
		"a release": {
			half: func(c *commanded) {
				if _, err := client.Do(wait(c.t), c.Client, controlop.Release, answer.CommandSelection{Point: "site/plant/pair"}); err != nil {
					c.t.Fatal(err)
				}
			},
		},
		"an override with failsafe": {
			half: func(c *commanded) {
				if _, err := client.Do(wait(c.t), c.Client, controlop.Override, answer.NewOverride{Pattern: "site/plant/**", Failsafe: true}); err != nil {
					c.t.Fatal(err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHalving(t, fmt.Sprintf("{points: [pair], default: %v}", int(halves(9, 7))))
			c.set("pair", halves(5, 100))
			change.half(c)
			c.becomes("pair", control.Mismatch)
			eventually(t, "it says what the device has", func() bool {
				_, reported := c.output("pair")
				return reported == fmt.Sprint(int(halves(9, 100)))
			})
			c.hears(t, "control.mismatch", "site/plant/pair", "another value")
			eventually(t, "health says so", func() bool { return c.Node.Health(wait(t)).Status == "degraded" })
			who, err := client.Do(wait(t), c.Client, controlop.Who, controlop.Path{Path: "site/plant/pair"})
			if err != nil || len(who.Points[0].Array) != change.level {
				t.Errorf("who says %+v, %v", who, err)
			}
		})
	}
}
