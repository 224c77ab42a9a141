package bvlc_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/bacnet/bvlc"
)

var (
	own     = netip.MustParseAddrPort("10.66.0.1:47808")
	subnet  = netip.MustParseAddrPort("10.66.0.255:47808")
	other   = netip.MustParseAddrPort("10.66.1.1:47808") // a BBMD that broadcasts by itself
	direct  = netip.MustParseAddrPort("10.66.2.1:47808") // a BBMD behind a router that takes directed broadcasts
	foreign = netip.MustParseAddrPort("10.66.9.9:47809")
	begin   = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

func newBBMD() *bvlc.BBMD {
	return bvlc.NewBBMD(bvlc.BBMDConfig{
		Own: own, Broadcast: subnet, MaxForeign: 2,
		Peers: []bvlc.Peer{{BBMD: own, Mask: [4]byte{255, 255, 255, 255}}, {BBMD: other, Mask: [4]byte{255, 255, 255, 255}}, {BBMD: direct, Mask: [4]byte{255, 255, 255, 0}}},
		Allow: func(a netip.AddrPort) bool { return a.Addr() != netip.MustParseAddr("10.66.6.6") },
	})
}

// arrival is a message for a BBMD.
type arrival struct {
	at    time.Duration
	from  netip.AddrPort
	wire  string
	heard bool // by broadcast
}

// told is what a BBMD sends, in the order of addresses, and whether the own device takes the message.
func told(t *testing.T, b *bvlc.BBMD, a arrival) (sent []string, pass bool) {
	t.Helper()
	m, err := bvlc.Parse(octets(t, a.wire))
	if err != nil {
		t.Fatal(err)
	}
	send, pass := b.Receive(begin.Add(a.at), a.from, a.heard, &m)
	for _, d := range send {
		sent = append(sent, fmt.Sprintf("%v % X", d.To, d.Data))
	}
	slices.Sort(sent)
	return sent, pass
}

const (
	broadcast  = "81 0B 00 08 01 00 10 08"
	distribute = "81 09 00 08 01 00 10 08"
	register   = "81 05 00 06 00 3C" // for 60 s
)

// forward is a datagram that passes on npdu of source (J.2.5).
func forward(to netip.AddrPort, source string) string {
	return fmt.Sprintf("%v 81 04 00 0E %s 01 00 10 08", to, source)
}

func TestABBMDPassesBroadcastsOn(t *testing.T) { // clause J.4.5
	const stationWire, foreignWire, far = "0A 42 00 02 BA C0", "0A 42 09 09 BA C1", "0A 42 01 05 BA C0"
	b := newBBMD()
	directed := netip.MustParseAddrPort("10.66.2.255:47808")
	for _, step := range []struct {
		name  string
		from  netip.AddrPort
		wire  string
		heard bool // by broadcast
		want  []string
		pass  bool
	}{
		{"of its subnet to each BBMD, to one as a directed broadcast", station, broadcast, true, []string{forward(other, stationWire), forward(directed, stationWire)}, true},
		{"a unicast to nobody", station, "81 0A 00 08 01 00 10 08", false, nil, true},
		{"of its subnet not if it came by unicast", station, broadcast, false, nil, true},
		{"of a stranger not at all", foreign, distribute, false, []string{foreign.String() + " 81 00 00 06 00 60"}, false},
		{"after a registration", foreign, register, false, []string{foreign.String() + " 81 00 00 06 00 00"}, false},
		{"of a foreign device to its subnet and each BBMD", foreign, distribute, false, []string{forward(subnet, foreignWire), forward(other, foreignWire), forward(directed, foreignWire)}, true},
		{"of its subnet to foreign devices too", station, broadcast, true, []string{forward(other, stationWire), forward(directed, stationWire), forward(foreign, stationWire)}, true},
		{"of another BBMD to its subnet and foreign devices", other, "81 04 00 0E " + far + " 01 00 10 08", false, []string{forward(subnet, far), forward(foreign, far)}, true},
		{"of another BBMD to foreign devices only if its subnet heard it", other, "81 04 00 0E " + far + " 01 00 10 08", true, []string{forward(foreign, far)}, true},
		{"not of a BBMD that it does not know", station, "81 04 00 0E " + far + " 01 00 10 08", false, nil, false},
		{"not its own that comes back", other, "81 04 00 0E 0A 42 00 01 BA C0 01 00 10 08", false, nil, false},
	} {
		sent, pass := told(t, b, arrival{from: step.from, wire: step.wire, heard: step.heard})
		slices.Sort(step.want)
		if diff := cmp.Diff(step.want, sent); diff != "" || pass != step.pass {
			t.Errorf("%s: pass is %v, sent (-want +got):\n%s", step.name, pass, diff)
		}
	}
	var mine []string
	for _, d := range b.Distribute(begin, npdu) {
		mine = append(mine, d.To.String())
	}
	slices.Sort(mine)
	if want := []string{other.String(), directed.String(), foreign.String()}; !slices.Equal(mine, want) {
		t.Errorf("its own broadcast goes to %v, not to %v", mine, want)
	}
}

func TestForeignDevicesAreRegisteredForATime(t *testing.T) { // clause J.5.2
	b := newBBMD()
	say := func(at time.Duration, from netip.AddrPort, wire, want string) {
		t.Helper()
		if sent, _ := told(t, b, arrival{at: at, from: from, wire: wire}); len(sent) != 1 || sent[0] != from.String()+" "+want {
			t.Errorf("at %v: %v, want %s", at, sent, want)
		}
	}
	const done, refused, undeleted, undistributed, unwritten = "81 00 00 06 00 00", "81 00 00 06 00 30", "81 00 00 06 00 50", "81 00 00 06 00 60", "81 00 00 06 00 10"
	say(0, foreign, register, done)
	say(0, netip.MustParseAddrPort("10.66.6.6:47808"), register, refused) // who may not
	say(30*time.Second, station, "81 06 00 04", "81 07 00 0E 0A 42 09 09 BA C1 00 3C 00 3C")
	say(40*time.Second, foreign, register, done) // again
	if sent, _ := told(t, b, arrival{at: 129 * time.Second, from: foreign, wire: distribute}); len(sent) != 3 {
		t.Errorf("within its time and the grace it sends %v", sent)
	}
	say(130*time.Second, foreign, distribute, undistributed)
	say(130*time.Second, station, "81 06 00 04", "81 07 00 04")

	say(200*time.Second, foreign, register, done)
	say(200*time.Second, station, register, done)
	say(200*time.Second, netip.MustParseAddrPort("10.66.0.3:47808"), register, refused) // the table is full
	say(200*time.Second, station, "81 08 00 0A 0A 42 09 09 BA C1", done)
	say(200*time.Second, station, "81 08 00 0A 0A 42 09 09 BA C1", undeleted)
	say(200*time.Second, foreign, distribute, undistributed)
	say(200*time.Second, station, "81 01 00 04", unwritten)
	say(200*time.Second, station, "81 02 00 04", "81 03 00 22 0A 42 00 01 BA C0 FF FF FF FF 0A 42 01 01 BA C0 FF FF FF FF 0A 42 02 01 BA C0 FF FF FF 00")
}
