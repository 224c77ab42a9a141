package node_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	apiclient "voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/children"
	devicesop "voltbus/operation/devices"
	"voltbus/operation/parent"
	"voltbus/testing/peers"
)

// faulty is a node on which faults are played.
type faulty struct{ *commanded }

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	peer := peers.Modbus(t)
	r := run(t, load(t, t.TempDir(), listenAnywhere+fmt.Sprintf(`
devices:
  site/plant:
    driver: modbus
    interval: 200ms
    control: [{points: [picky], approval: true}, {points: [valve], assert: never}]
    config:
      address: %q
      timeout: 2s
      registry:%s
  site/gaps:
    driver: modbus
    interval: 200ms
    config:
      address: %q
      timeout: 2s
      unit: 1
      registry:
        - {name: there, address: 88, table: holding, type: int16}
        - {name: nothing, address: 92, table: holding, type: uint16}
`, peer.Addr, plantRegistry, peer.Addr)))
	return &faulty{&commanded{r, peer}}
}

// says waits until health has a concern of a part with the text, and compares every place that speaks of the node.
func (f *faulty) says(part, subject, text string) {
	f.t.Helper()
	var h answer.Health
	eventually(f.t, "health says of "+part+": "+text, func() bool {
		var err error
		if h, err = f.Client.Health(wait(f.t)); err != nil {
			f.t.Fatal(err)
		}
		return slices.ContainsFunc(h.Concerns, func(c answer.Concern) bool {
			return c.Part == part && c.Subject == subject && strings.Contains(c.Sentence, text) && c.Link != ""
		})
	})
	f.alike()
}

// alike compares health, its parts, the device list and the metrics, once nothing changes between the questions.
func (f *faulty) alike() {
	f.t.Helper()
	why := ""
	eventually(f.t, "all places say the same", func() bool {
		before, err := f.Client.Health(wait(f.t))
		if err != nil {
			f.t.Fatal(err)
		}
		why = f.differs(&before) + f.counted(&before)
		return why == ""
	})
}

// differs says what another place says than health; "" if all say the same.
func (f *faulty) differs(h *answer.Health) string {
	f.t.Helper()
	count := map[string]int{}
	for _, c := range h.Concerns {
		count[c.Part]++
	}
	if (h.Status == "ok") != (len(h.Concerns) == 0) {
		return h.Status
	}
	metrics := f.metrics()
	for _, p := range h.Parts {
		if (p.Status == "ok") != (count[p.Name] == 0) {
			return p.Name + " is " + p.Status
		}
		if line := fmt.Sprintf("voltbus_concerns{part=%q} %d\n", p.Name, count[p.Name]); !strings.Contains(metrics, line) {
			return "the metrics do not hold " + line
		}
	}
	devices, err := apiclient.Do(wait(f.t), f.Client, devicesop.List, struct{}{})
	if err != nil {
		f.t.Fatal(err)
	}
	told := map[string]bool{}
	for _, d := range devices.Devices {
		if d.Concern != "" {
			told[d.Concern] = true
		}
	}
	for _, c := range h.Concerns {
		if (c.Part == "devices" || c.Part == "registers") != told[c.Sentence] {
			return "the device list: " + c.Sentence
		}
		delete(told, c.Sentence)
	}
	for text := range told {
		return "only the device list says " + text
	}
	return ""
}

func (f *faulty) metrics() string {
	f.t.Helper()
	req, err := http.NewRequestWithContext(wait(f.t), http.MethodGet, f.HTTPAddr()+"/metrics", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.token())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(body)
}

func TestEveryPlaceThatSpeaksOfANodeSaysTheSame(t *testing.T) {
	f := newFaulty(t)
	f.says("registers", "site/gaps", "site/gaps answers only in part")
	f.set("valve", 19)
	f.turn(100, 250)
	f.says("control", "site/plant/valve", "mismatch")

	agent := join(t, f.running, f.Node.Config(), "boiler", identity.Grants{})
	if err := agent.Health("bad", "no flow", time.Minute); err != nil {
		t.Fatal(err)
	}
	f.says("agents", "boiler", "says that it does not work: no flow")
	if err := agent.Alert("hot", "critical", "too hot"); err != nil {
		t.Fatal(err)
	}
	f.says("alerts", "boiler: hot", "critical of boiler: too hot")

	f.set("picky", 2)
	f.says("approvals", "site/plant/picky", "waits for the approval of a second person")
	invited, err := apiclient.Do(wait(t), f.Client, children.Invite, apiclient.NewInvitation{}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	child, _ := named(t, "plant", listenNowhere)
	if _, err := apiclient.Do(wait(t), child.Client, parent.Join, parent.Code{Code: invited.Code, Name: ""}); err != nil {
		t.Fatal(err)
	}
	f.says("approvals", "plant", "the node plant waits for approval")

	c, err := configurationOf(t, f)
	if err != nil {
		t.Fatal(err)
	}
	tried, err := setConfig(t, f, c.Text+"# tried\n", c.Version, 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	f.says("configuration", "admin", "is on trial until")
	if err := confirmConfig(t, f, tried.Version); err != nil {
		t.Fatal(err)
	}
	f.peer.Kill()
	eventually(t, "one concern tells of the line on which nobody answers", func() bool {
		h, err := f.Client.Health(wait(t))
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(h.Concerns, func(c answer.Concern) bool {
			return c.Part == "devices" && c.Severity == "critical" && strings.HasPrefix(c.Sentence, "all 2 devices of line ")
		})
	})
	f.alike()
}
