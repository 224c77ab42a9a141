package bacnet_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/gateway/bacnet"
	"voltbus/protocol/bacnet/ip"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const mapping = `
local: 10.66.0.2/24
device: 77
name: campus gateway
location: plant room
points:
  - {point: site/ahu/supply_temp, instance: 1, increment: 0.5, trend_log: 3}
  - {point: site/ahu/setpoint, instance: 1, min: 5, max: 40}
  - {point: site/ahu/fan, instance: 1, states: [stopped, running]}
  - {point: site/ahu/mode, instance: 1, states: [off, low, high], first: 0}
  - {point: site/ahu/note, instance: 1}
  - {point: site/ahu/flow, instance: 2, read_only: true}
  - {point: site/ahu/absent, type: binary-input, instance: 9}
writers:
  - {from: [10.66.0.3], token_file: bms.token, min_priority: 6, lease: 1h}
status: 127.0.0.1:0
`

// gateway makes a gateway with the instances of a file, and saves them.
func gateway(t *testing.T, m *bacnet.Mapping, n *node, file string) *bacnet.Gateway {
	t.Helper()
	instances, err := bacnet.OpenInstances(file)
	if err != nil {
		t.Fatal(err)
	}
	g, err := bacnet.New(t.Context(), bacnet.Config{
		Mapping: m, Node: n, People: []bacnet.Commander{person{n}}[:len(m.Writers)], Instances: instances, Log: slog.New(slog.DiscardHandler),
	})
	if err := errors.Join(err, instances.Save()); err != nil {
		t.Fatal(err)
	}
	return g
}

// inSubnet is where the gateway of most tests is.
func inSubnet() ip.Config {
	return ip.Config{Listen: netip.MustParseAddrPort("10.66.0.2:47808"), Broadcast: netip.MustParseAddr("10.66.0.255")}
}

func parsed(t *testing.T, text string) *bacnet.Mapping {
	t.Helper()
	m, problems := bacnet.ParseMapping("map.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return m
}

// start runs a gateway for a node until the test ends.
func start(t *testing.T, n *node, at ip.Config, m *bacnet.Mapping) *bacnet.Gateway {
	t.Helper()
	g := gateway(t, m, n, filepath.Join(t.TempDir(), "instances.csv"))
	for _, o := range g.Objects() {
		if o.Missing != (o.Point == "site/ahu/absent") {
			t.Errorf("missing is %+v", o)
		}
	}
	d, err := g.Open(t.Context(), at, "1.0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx, d) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	<-n.following
	n.live <- `{"device":"site/ahu","time":"2026-03-04T05:06:07Z","points":{"supply_temp":14.5}}` // and it has been taken
	n.live <- `{"device":"site/other","time":"2026-03-04T05:06:07Z","points":{}}`
	return g
}

func TestAForeignClientSeesCommandsAndWatchesThePointsOfANode(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.3/24") {
		return
	}
	n := &node{live: make(chan string), following: make(chan struct{}, 10)}
	g := start(t, n, inSubnet(), parsed(t, mapping))
	peer := peers.BACnetClient(t, "10.66.0.3/24")
	const device = "10.66.0.2"
	expect := func(command, want string) {
		t.Helper()
		peer.Do(t, "%s", command)
		word, _, _ := strings.Cut(want, " ")
		if got := peer.Await(t, word); strings.TrimSpace(word+" "+got) != want {
			t.Errorf("%s: %q, want %q", command, word+" "+got, want)
		}
	}
	// waiting repeats a command until its answer is the one that is awaited.
	waiting := func(command, want string) {
		t.Helper()
		for range 1000 {
			peer.Do(t, "%s", command)
			if peer.Await(t, "read") == want {
				return
			}
		}
		t.Errorf("%s never gave %q", command, want)
	}

	expect("whois 77 77", "device 77 10.66.0.2 1476 0")
	peer.Await(t, "done whois 1")
	expect("whohas site/ahu/fan", "object 77 binary-value,1 site/ahu/fan")
	peer.Await(t, "done whohas 1")
	expect("list "+device+" device,77", "list 9") // the device, seven points and a log
	for command, want := range map[string]string{
		"device,77 object-name": "campus gateway", "device,77 location": "plant room", "device,77 vendor-name": "Voltbus",
		"analog-input,1 object-name": "site/ahu/supply_temp", "analog-input,1 units": "degrees-celsius", "analog-input,1 description": "supply air",
		"analog-input,1 cov-increment": "0.5", "binary-value,1 active-text": "running", "binary-value,1 inactive-text": "stopped",
		"multi-state-value,1 state-text": "[off low high]", "multi-state-value,1 number-of-states": "3", "analog-input,2 units": "liters-per-second",
		"analog-value,1 max-pres-value": "40.0", "binary-input,9 reliability": "communication-failure",
	} {
		expect("read "+device+" "+command, "read "+want)
	}
	waiting("read "+device+" analog-input,1 present-value", "14.5")
	waiting("read "+device+" binary-value,1 present-value", "active")
	waiting("read "+device+" multi-state-value,1 present-value", "3") // the point is 2, and its first state 0
	waiting("read "+device+" characterstring-value,1 present-value", "grün")
	waiting("read "+device+" device,77 system-status", "operational")
	expect("read "+device+" analog-input,1 reliability", "read no-fault-detected")
	for _, group := range []string{"all", "required", "optional"} {
		peer.Do(t, "many %s analog-value,1 %s", device, group)
		if group != "optional" {
			peer.Await(t, "property present-value 20.0")
		}
		peer.Await(t, "done many")
	}

	// Commands go to control in the name of the person.
	expect("write "+device+" analog-value,1 real 25.5 8", "written")
	expect("read "+device+" analog-value,1 present-value", "read 25.5")
	expect("read "+device+" analog-value,1 priority-array 8", "read 25.5")
	if c := n.commands()[0]; c.Point != "site/ahu/setpoint" || c.Level != 8 || string(c.Value) != "25.5" || c.Lease != 3600 || !strings.Contains(c.Reason, "10.66.0.3") {
		t.Errorf("control was asked for %+v", c)
	}
	expect("write "+device+" analog-value,1 null 0 8", "written")
	expect("read "+device+" analog-value,1 priority-array 8", "read null")
	expect("write "+device+" multi-state-value,1 unsigned 1 16", "written")
	expect("write "+device+" binary-value,1 enumerated 0 16", "written")
	if c := n.commands()[1:]; string(c[0].Value) != "0" || string(c[1].Value) != "false" {
		t.Errorf("control was asked for %+v", c)
	}

	// Commands of others are seen, and not ended.
	n.set(7, "person:ada", "18")
	n.tell(t, `{"event":"command-started","path":"site/ahu/setpoint","level":7,"requester":"person:ada","time":"2026-03-04T05:06:07Z"}`)
	waiting("read "+device+" analog-value,1 priority-array 7", "18.0")
	expect("write "+device+" analog-value,1 null 0 7", "declined property write-access-denied")
	refusals(t, n, expect)

	watch(t, n, peer, device)
	watchProperty(t, n, peer, device)
	trends(t, peer, device)

	status := g.Status()
	if !status.Node || !status.Serving || status.Objects != 7 || status.Faulty != 1 || status.Commandable != 3 || status.Commands != 4 || status.Declined == 0 {
		t.Errorf("the status is %+v", status)
	}
	n.live <- "" // the node goes away
	waiting("read "+device+" device,77 system-status", "non-operational")
	waiting("read "+device+" analog-input,1 reliability", "communication-failure")
	expect("read "+device+" analog-input,1 present-value", "read 16.0")
	<-n.following // and comes back
	waiting("read "+device+" device,77 system-status", "operational")
	waiting("read "+device+" analog-input,1 reliability", "no-fault-detected")
}

// refusals tries commands that are refused, by the gateway and by control.
func refusals(t *testing.T, n *node, expect func(command, want string)) {
	t.Helper()
	const write = "write 10.66.0.2 analog-value,1 real 25 8"
	expect("write 10.66.0.2 analog-value,1 real 25 5", "declined property write-access-denied") // more urgent than the writer may
	expect("write 10.66.0.2 analog-value,1 real 41 8", "declined property value-out-of-range")
	expect("write 10.66.0.2 analog-value,1 text warm 8", "declined property invalid-data-type")
	expect("write 10.66.0.2 analog-input,1 real 25 8", "declined property write-access-denied")
	expect("write 10.66.0.2 analog-input,2 real 25 8", "declined property write-access-denied") // read_only
	expect("write 10.66.0.2 analog-value,99 real 25 8", "declined object unknown-object")
	for why, want := range map[string]string{
		"range": "property value-out-of-range", "reserved": "device device-busy", "held": "device device-busy", "overridden": "device device-busy",
		"interlock": "device device-busy", "lease": "property write-access-denied", "read-only": "property write-access-denied",
		"unknown": "object unknown-object", "declined": "property write-access-denied",
	} {
		n.answers(&answer.Commanded{Status: "refused", Error: &answer.ControlError{Kind: "refused", Why: why}}, nil)
		expect(write, "declined "+want)
	}
	n.answers(&answer.Commanded{Status: "pending", Point: "site/ahu/setpoint"}, nil)
	expect(write, "declined property write-access-denied")
	for kind, want := range map[fault.Kind]string{
		fault.Refused: "property write-access-denied", fault.Unreachable: "device operational-problem", fault.Timeout: "device timeout",
		fault.Unavailable: "device device-busy", fault.NotFound: "object unknown-object",
	} {
		n.answers(nil, fault.E("control.command", kind, "", errors.New("no")))
		expect(write, "declined "+want)
	}
	n.answers(nil, nil)
}

// watch subscribes to changes.
func watch(t *testing.T, n *node, peer *peers.Conversation, device string) {
	t.Helper()
	peer.Do(t, "cov %s analog-input,1 confirmed", device)
	peer.Await(t, "change present-value 14.5")
	for _, value := range []string{"14.75", "15.25"} { // the first is less than 0.5 away
		n.live <- `{"device":"site/ahu","time":"2026-03-04T05:06:08Z","points":{"supply_temp":` + value + `}}`
	}
	if got := peer.Await(t, "change present-value"); got != "15.25" {
		t.Errorf("told of %s, want only 15.25", got)
	}
	n.live <- `{"device":"site/ahu","time":"2026-03-04T05:06:09Z","points":{"supply_temp":null},"quality":{"supply_temp":"bad(sensor)"}}`
	peer.Await(t, "change status-flags [0 1 0 0]")
	n.live <- `{"device":"site/ahu","time":"2026-03-04T05:06:10Z","points":{"supply_temp":16},"quality":{"supply_temp":"good(override)"}}`
	peer.Await(t, "change status-flags [0 0 1 0]")
	n.live <- `{"device":"site/ahu","time":"2026-03-04T05:06:11Z","points":{"supply_temp":16}}`
	peer.Await(t, "change status-flags [0 0 0 0]")
}

// watchProperty subscribes to a property with an increment of its own.
func watchProperty(t *testing.T, n *node, peer *peers.Conversation, device string) {
	t.Helper()
	peer.Do(t, "covproperty %s analog-input,2 present-value 10", device)
	peer.Await(t, "told present-value 120.25")
	for _, value := range []string{"125", "131"} { // the first is less than 10 away
		n.live <- `{"device":"site/ahu","time":"2026-03-04T05:06:12Z","points":{"flow":` + value + `}}`
	}
	if got := peer.Await(t, "told present-value"); got != "131.0" {
		t.Errorf("told of %s, want only 131.0", got)
	}
}

// trends reads the trend log.
func trends(t *testing.T, peer *peers.Conversation, device string) {
	t.Helper()
	ask := func(format string, args ...any) (records []string, done string) {
		t.Helper()
		peer.Do(t, "range "+device+" trend-log,3 "+format, args...)
		for {
			word := peer.Await(t, "")
			if rest, is := strings.CutPrefix(word, "done range "); is {
				return records, rest
			}
			if !strings.HasPrefix(word, "record ") {
				t.Fatalf("range %s: %s", fmt.Sprintf(format, args...), word)
			}
			records = append(records, word)
		}
	}
	peer.Do(t, "read %s trend-log,3 record-count", device)
	if got := peer.Await(t, "read"); got != "1000" && got != "1001" { // a minute may have begun
		t.Errorf("%s records", got)
	}
	records, done := ask("position 499 4")
	gap := slices.IndexFunc(records, func(r string) bool { return strings.Contains(r, " failure") })
	if len(records) != 4 || !strings.HasPrefix(done, "4 0 0 0") || gap != 1 && gap != 2 || // a minute may have begun
		!strings.HasSuffix(records[gap-1], "realValue 499.0") || !strings.HasSuffix(records[gap+1], "realValue 501.0") {
		t.Errorf("from position 499: %q %s", records, done)
	}
	if records, done = ask("position 1 1"); len(records) != 1 || !strings.HasPrefix(done, "1 1 0 0") {
		t.Errorf("the first: %q %s", records, done)
	}
	at := began().Add(600 * time.Minute)
	text := at.Format("2006-01-02 15:04:05")
	if records, _ = ask("time %s 2", text); len(records) != 2 || !strings.HasSuffix(records[0], "realValue 601.0") {
		t.Errorf("after %s: %q", text, records)
	}
	records, done = ask("time %s -2", text)
	if len(records) != 2 || !strings.HasSuffix(records[1], "realValue 599.0") {
		t.Errorf("before %s: %q", text, records)
	}
	fields := strings.Fields(done)
	if records, _ = ask("sequence %s 2", fields[len(fields)-1]); len(records) != 2 || !strings.HasSuffix(records[1], "realValue 599.0") {
		t.Errorf("by sequence %s: %q", done, records)
	}
	if records, done = ask("time 2001-01-01 00:00:00 5000"); len(records) < 100 || !strings.HasPrefix(done, fmt.Sprintf("%d 1", len(records))) {
		t.Errorf("all: %d records, %s", len(records), done) // in segments
	}
	if records, _ = ask("time 2099-01-01 00:00:00 5"); len(records) != 0 {
		t.Errorf("of the future: %q", records)
	}
	peer.Do(t, "read %s trend-log,3 log-buffer", device)
	if got := peer.Await(t, "declined"); got != "property read-access-denied" {
		t.Errorf("the buffer as a property: %s", got)
	}
}

func TestStationsThatNobodyNamedCommandNothing(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.4/24") {
		return
	}
	n := &node{live: make(chan string), following: make(chan struct{}, 10)}
	start(t, n, inSubnet(), parsed(t, mapping))
	peer := peers.BACnetClient(t, "10.66.0.4/24", "480")
	peer.Do(t, "write 10.66.0.2 analog-value,1 real 25 8")
	if got := peer.Await(t, "declined"); got != "property write-access-denied" || len(n.commands()) > 0 {
		t.Errorf("declined with %s; control was asked for %v", got, n.commands())
	}
	peer.Do(t, "many 10.66.0.2 device,77 all") // longer than its APDU: in segments
	peer.Await(t, "property object-name campus gateway")
	peer.Await(t, "done many")
}

func TestAnswersToAClientWithTheSmallestAPDUComeInSegments(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.5/24") {
		return
	}
	n := &node{live: make(chan string), following: make(chan struct{}, 10)}
	start(t, n, inSubnet(), parsed(t, mapping))
	peer := peers.BACnetClient(t, "10.66.0.5/24", "50")
	peer.Do(t, "many 10.66.0.2 analog-input,1 all")
	peer.Await(t, "property description supply air")
	peer.Await(t, "done many")
	peer.Do(t, "list 10.66.0.2 device,77")
	if got := peer.Await(t, "list"); got != "9" {
		t.Errorf("the object list has %s entries", got)
	}
}

func TestStationsThatAreNotAllowedGetNoAnswer(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.3/24", "10.66.0.4/24") {
		return
	}
	n := &node{live: make(chan string), following: make(chan struct{}, 10)}
	g := start(t, n, inSubnet(), parsed(t, "allow: [10.66.0.3]\n"+mapping))
	for address, want := range map[string]string{"10.66.0.3/24": "1", "10.66.0.4/24": "0"} {
		peer := peers.BACnetClient(t, address)
		peer.Do(t, "whois 77 77")
		if got := peer.Await(t, "done whois"); got != want {
			t.Errorf("%s found %s devices, want %s", address, got, want)
		}
	}
	if s := g.Status(); s.Strangers == 0 {
		t.Errorf("the status is %+v", s)
	}
}

func TestTheGatewayIsFoundThroughABBMDOfAnotherSubnet(t *testing.T) {
	if !peers.Namespace(t, "10.66.1.21/24", "10.66.1.22/24", "10.66.1.3/24", "10.66.2.2/24") {
		return
	}
	peers.BACnet(t, "bbmd", "10.66.1.21/24", "21", "1476", "2", "10.66.1.22/24")
	n := &node{live: make(chan string), following: make(chan struct{}, 10)}
	start(t, n, ip.Config{Listen: netip.MustParseAddrPort("10.66.2.2:47808"), BBMD: netip.MustParseAddrPort("10.66.1.21:47808")}, parsed(t, mapping))
	peer := peers.BACnetClient(t, "10.66.1.3/24")
	for range 20 { // the registration takes a moment
		peer.Do(t, "whois 77 77")
		if peer.Await(t, "done whois") == "1" {
			return
		}
	}
	t.Error("the gateway is never found")
}

// found asks with Who-Is until so many devices of a range answer: a registration takes a moment.
func found(t *testing.T, peer *peers.Conversation, limits, want string) {
	t.Helper()
	for range 20 {
		peer.Do(t, "whois "+limits)
		if peer.Await(t, "done whois") == want {
			return
		}
	}
	t.Errorf("of %s never %s are found", limits, want)
}

func TestTheGatewayIsTheBBMDOfItsSubnet(t *testing.T) {
	if !peers.Namespace(t, "10.66.1.21/24", "10.66.1.22/24", "10.66.1.3/24", "10.66.2.2/24", "10.66.2.3/24", "10.66.3.3/24") {
		return
	}
	peers.BACnet(t, "bbmd", "10.66.1.21/24", "21", "1476", "2", "10.66.1.22/24", "peer=10.66.2.2:47808")
	at := ip.Config{
		Listen: netip.MustParseAddrPort("10.66.2.2:47808"), Broadcast: netip.MustParseAddr("10.66.2.255"),
		Distribution: &ip.Distribution{MaxForeign: 1, Peers: []netip.AddrPort{netip.MustParseAddrPort("10.66.1.21:47808")}},
	}
	n := &node{live: make(chan string), following: make(chan struct{}, 10)}
	start(t, n, at, parsed(t, mapping))
	near := peers.BACnetClient(t, "10.66.2.3/24")
	found(t, near, "21 22", "2") // of the other subnet, through both BBMDs
	found(t, near, "77 77", "1")
	far := peers.BACnetClient(t, "10.66.1.3/24")
	found(t, far, "77 77", "1") // the gateway, from the other subnet
	foreign := peers.BACnetClient(t, "10.66.3.3/24", "1476", "10.66.2.2")
	found(t, foreign, "77 77", "1")
	found(t, foreign, "21 22", "2")
}

func TestTheStatusIsToldOverHTTP(t *testing.T) {
	m := parsed(t, mapping)
	n := &node{}
	g := gateway(t, m, n, filepath.Join(t.TempDir(), "instances.csv"))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", m.Status)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.ServeStatus(ctx, listener) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	get := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listener.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{DisableKeepAlives: true}
		resp, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var b strings.Builder
		buffer := make([]byte, 4096)
		for {
			k, err := resp.Body.Read(buffer)
			b.Write(buffer[:k])
			if err != nil {
				return resp.StatusCode, b.String()
			}
		}
	}
	if code, body := get("/health"); code != http.StatusServiceUnavailable || !strings.Contains(body, `"node":false`) {
		t.Errorf("health: %d %s", code, body)
	}
	if code, body := get("/metrics"); code != http.StatusOK || !strings.Contains(body, "\nvoltbus_bacnet_gateway_objects 7\n") {
		t.Errorf("metrics: %d %s", code, body)
	}
}
