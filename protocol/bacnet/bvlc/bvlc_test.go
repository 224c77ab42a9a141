package bvlc_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"voltbus/protocol/bacnet/bvlc"
)

func octets(t testing.TB, text string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var (
	station = netip.MustParseAddrPort("10.66.0.2:47808")
	npdu    = []byte{0x01, 0x00, 0x10, 0x08}
)

// The messages of clauses J.2.1 to J.2.13.
var messages = []struct {
	name    string
	wire    string
	message bvlc.Message
	write   func() []byte
}{
	{"J.2.1 a result", "81 00 00 06 00 30", bvlc.Message{Function: bvlc.Result, Result: bvlc.RegisterRefuse}, func() []byte { return bvlc.AppendResult(nil, bvlc.RegisterRefuse) }},
	{
		"J.2.2 a write of the distribution table", "81 01 00 0E 0A 42 00 02 BA C0 FF FF FF FF",
		bvlc.Message{Function: bvlc.WriteBroadcastTable, Data: []byte{0x0A, 0x42, 0, 2, 0xBA, 0xC0, 255, 255, 255, 255}},
		func() []byte {
			return bvlc.AppendPeers(nil, bvlc.WriteBroadcastTable, []bvlc.Peer{{BBMD: station, Mask: [4]byte{255, 255, 255, 255}}})
		},
	},
	{"J.2.3 a read of the distribution table", "81 02 00 04", bvlc.Message{Function: bvlc.ReadBroadcastTable}, func() []byte { return bvlc.AppendRead(nil, bvlc.ReadBroadcastTable) }},
	{"J.2.4 an empty distribution table", "81 03 00 04", bvlc.Message{Function: bvlc.ReadBroadcastTableAck}, func() []byte { return bvlc.AppendPeers(nil, bvlc.ReadBroadcastTableAck, nil) }},
	{
		"J.2.5 a forwarded NPDU", "81 04 00 0E 0A 42 00 02 BA C0 01 00 10 08",
		bvlc.Message{Function: bvlc.ForwardedNPDU, Source: station, NPDU: npdu},
		func() []byte { return bvlc.AppendForwarded(nil, station, npdu) },
	},
	{"J.2.6 a registration", "81 05 00 06 00 3C", bvlc.Message{Function: bvlc.RegisterForeignDevice, TTL: 60}, func() []byte { return bvlc.AppendRegister(nil, 60) }},
	{"J.2.7 a read of the foreign devices", "81 06 00 04", bvlc.Message{Function: bvlc.ReadForeignTable}, func() []byte { return bvlc.AppendRead(nil, bvlc.ReadForeignTable) }},
	{
		"J.2.8 a foreign device", "81 07 00 0E 0A 42 00 02 BA C0 00 3C 00 10",
		bvlc.Message{Function: bvlc.ReadForeignTableAck, Data: []byte{0x0A, 0x42, 0, 2, 0xBA, 0xC0, 0, 0x3C, 0, 0x10}},
		func() []byte {
			return bvlc.AppendForeigns(nil, []bvlc.Foreign{{Device: station, TTL: time.Minute, Left: 16 * time.Second}})
		},
	},
	{"J.2.9 a deletion", "81 08 00 0A 0A 42 00 02 BA C0", bvlc.Message{Function: bvlc.DeleteForeignEntry, Source: station}, func() []byte { return bvlc.AppendDelete(nil, station) }},
	{"J.2.10 a broadcast to distribute", "81 09 00 08 01 00 10 08", bvlc.Message{Function: bvlc.DistributeBroadcast, NPDU: npdu}, func() []byte { return bvlc.AppendNPDU(nil, bvlc.DistributeBroadcast, npdu) }},
	{"J.2.11 a unicast", "81 0A 00 08 01 00 10 08", bvlc.Message{Function: bvlc.OriginalUnicast, NPDU: npdu}, func() []byte { return bvlc.AppendNPDU(nil, bvlc.OriginalUnicast, npdu) }},
	{"J.2.12 a broadcast", "81 0B 00 08 01 00 10 08", bvlc.Message{Function: bvlc.OriginalBroadcast, NPDU: npdu}, func() []byte { return bvlc.AppendNPDU(nil, bvlc.OriginalBroadcast, npdu) }},
}

func TestMessages(t *testing.T) {
	for _, tt := range messages {
		t.Run(tt.name, func(t *testing.T) {
			wire := octets(t, tt.wire)
			got, err := bvlc.Parse(wire)
			if diff := cmp.Diff(tt.message, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }), cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("read (-want +got), %v:\n%s", err, diff)
			}
			if got := tt.write(); !bytes.Equal(got, wire) {
				t.Errorf("wrote % X, want % X", got, wire)
			}
			for n := range wire {
				if _, err := bvlc.Parse(wire[:n]); err == nil {
					t.Errorf("%d of %d octets are accepted", n, len(wire))
				}
			}
		})
	}
}

func TestMalformedDatagramsAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		wire string
		want error
	}{
		"another protocol":            {"82 0A 00 04", bvlc.ErrVersion},
		"a length that is too great":  {"81 0A 00 05", bvlc.ErrLength},
		"a length that is too small":  {"81 0A 00 04 01", bvlc.ErrLength},
		"a function nobody knows":     {"81 20 00 04", bvlc.ErrFunction},
		"a forward without a source":  {"81 04 00 06 0A 42", bvlc.ErrTruncated},
		"a registration without time": {"81 05 00 05 00", bvlc.ErrTruncated},
	} {
		if m, err := bvlc.Parse(octets(t, tt.wire)); !errors.Is(err, tt.want) {
			t.Errorf("%s: read %+v with the error %v, want %v", name, m, err, tt.want)
		}
	}
	m, err := bvlc.Parse(octets(t, "81 07 00 09 0A 42 00 02 BA"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Foreigns(); !errors.Is(err, bvlc.ErrTruncated) {
		t.Errorf("half an entry of the table gives %v", err)
	}
}

func TestTablesAreRead(t *testing.T) {
	m, err := bvlc.Parse(octets(t, "81 07 00 0E 0A 42 00 02 BA C0 00 3C 00 10"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Foreigns()
	if want := (bvlc.Foreign{Device: station, TTL: time.Minute, Left: 16 * time.Second}); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("foreign devices %v (%v), want %v", got, err, want)
	}
	m.Data = octets(t, "0A 42 00 02 BA C0 FF FF FF 00")
	peers, err := m.Peers()
	if want := (bvlc.Peer{BBMD: station, Mask: [4]byte{255, 255, 255, 0}}); err != nil || len(peers) != 1 || peers[0] != want {
		t.Errorf("BBMDs %v (%v), want %v", peers, err, want)
	}
}

func TestARegistrationIsRenewedAndTriedAgain(t *testing.T) { // clause J.5.2.3
	r := bvlc.NewRegistration(time.Minute)
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	register := octets(t, "81 05 00 06 00 3C")
	step := func(after time.Duration, want []byte) {
		t.Helper()
		now = now.Add(after)
		if got := r.Tick(now, nil); !bytes.Equal(got, want) {
			t.Errorf("after %v it sends % X, want % X", after, got, want)
		}
	}
	step(0, register)
	step(time.Second, nil)
	step(4*time.Second, register) // no answer
	r.Receive(now, bvlc.RegisterRefuse)
	if !r.Refused() || r.Registered(now) {
		t.Error("a refusal is not seen")
	}
	step(5*time.Second, register)
	r.Receive(now, bvlc.Success)
	if r.Refused() || !r.Registered(now) {
		t.Error("a success is not seen")
	}
	step(29*time.Second, nil)
	step(time.Second, register) // half of the time
	step(5*time.Second, register)
	if !r.Registered(now) || r.Registered(now.Add(25*time.Second)) {
		t.Error("the registration does not end a minute after the last success")
	}
}

// FuzzParse reads any datagram: what is accepted and can be written must come out as it was.
func FuzzParse(f *testing.F) {
	for _, tt := range messages {
		f.Add(octets(f, tt.wire))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := bvlc.Parse(data)
		if err != nil {
			return
		}
		_, _ = m.Peers()
		_, _ = m.Foreigns()
		switch m.Function {
		case bvlc.ForwardedNPDU:
			if got := bvlc.AppendForwarded(nil, m.Source, m.NPDU); !bytes.Equal(got, data) {
				t.Errorf("% X was written as % X", data, got)
			}
		case bvlc.OriginalUnicast, bvlc.OriginalBroadcast, bvlc.DistributeBroadcast:
			if got := bvlc.AppendNPDU(nil, m.Function, m.NPDU); !bytes.Equal(got, data) {
				t.Errorf("% X was written as % X", data, got)
			}
		}
	})
}
