package npdu_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/bacnet/npdu"
)

func octets(t testing.TB, text string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var headers = []struct {
	name   string
	wire   string
	header npdu.Header
}{
	{"6.2.2 nothing but an APDU", "01 00", npdu.Header{}},
	{"6.2.2 an answer is expected", "01 04", npdu.Header{Reply: true}},
	{"6.2.2 life safety", "01 03", npdu.Header{Priority: 3}},
	{"6.2.2 a broadcast to all networks", "01 20 FF FF 00 FF", npdu.Header{Destination: npdu.Address{Net: npdu.Global}, Hops: 255}},
	{"6.2.2 a station behind a router", "01 24 00 05 01 0A FF", npdu.Header{Destination: npdu.Address{Net: 5, MAC: "\x0A"}, Hops: 255, Reply: true}},
	{"6.2.2 from a station behind a router", "01 08 00 05 01 0A", npdu.Header{Source: npdu.Address{Net: 5, MAC: "\x0A"}}},
	{
		"6.2.2 from one network to another", "01 28 00 07 06 0A 42 00 02 BA C0 00 05 01 0A FE",
		npdu.Header{Destination: npdu.Address{Net: 7, MAC: "\x0A\x42\x00\x02\xBA\xC0"}, Source: npdu.Address{Net: 5, MAC: "\x0A"}, Hops: 254},
	},
	{"6.4.1 who is the router to a network", "01 80 00", npdu.Header{IsMessage: true, Message: npdu.WhoIsRouter}},
	{"6.4.2 I am the router", "01 80 01", npdu.Header{IsMessage: true, Message: npdu.IAmRouter}},
	{"6.2.3 a vendor's message", "01 80 81 01 04", npdu.Header{IsMessage: true, Message: 0x81, Vendor: 260}},
}

func TestHeaders(t *testing.T) {
	for _, tt := range headers {
		t.Run(tt.name, func(t *testing.T) {
			wire := octets(t, tt.wire)
			got, rest, err := npdu.Parse(append(slices.Clone(wire), 0x10, 0x08))
			if diff := cmp.Diff(tt.header, got); diff != "" || err != nil || !bytes.Equal(rest, []byte{0x10, 0x08}) {
				t.Errorf("read with the rest % X, %v (-want +got):\n%s", rest, err, diff)
			}
			if got := npdu.Append(nil, tt.header); !bytes.Equal(got, wire) {
				t.Errorf("wrote % X, want % X", got, wire)
			}
			for n := range wire {
				if _, _, err := npdu.Parse(wire[:n]); !errors.Is(err, npdu.ErrTruncated) {
					t.Errorf("%d of %d octets give the error %v", n, len(wire), err)
				}
			}
		})
	}
}

func TestMalformedHeadersAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		wire string
		want error
	}{
		"another version":              {"02 00", npdu.ErrVersion},
		"a destination of network 0":   {"01 20 00 00 00 FF", npdu.ErrAddress},
		"a MAC longer than any":        {"01 20 00 05 FF " + strings.Repeat("00", 255) + "FF", npdu.ErrAddress},
		"a source of all networks":     {"01 08 FF FF 01 0A", npdu.ErrAddress},
		"a source without a MAC":       {"01 08 00 05 00", npdu.ErrAddress},
		"a source of the network zero": {"01 08 00 00 01 0A", npdu.ErrAddress},
	} {
		if h, _, err := npdu.Parse(octets(t, tt.wire)); !errors.Is(err, tt.want) {
			t.Errorf("%s: read %+v with the error %v, want %v", name, h, err, tt.want)
		}
	}
}

func TestMessagesOfRouters(t *testing.T) {
	if nets, err := npdu.ParseNetworks(octets(t, "00 05 00 07")); err != nil || !slices.Equal(nets, []uint16{5, 7}) {
		t.Errorf("networks %v (%v)", nets, err)
	}
	if _, err := npdu.ParseNetworks(octets(t, "00 05 00")); err == nil {
		t.Error("half of a network number is accepted")
	}
	if got := npdu.AppendNetworks(nil, 5, 7); !bytes.Equal(got, octets(t, "00 05 00 07")) {
		t.Errorf("wrote % X", got)
	}
	reason, net, err := npdu.ParseReject(octets(t, "01 00 05"))
	if err != nil || net != 5 || reason.String() != "the router does not reach the network" {
		t.Errorf("reject of network %d: %v (%v)", net, reason, err)
	}
	routes, err := npdu.ParseRoutes(octets(t, "02 00 05 01 00 00 07 02 02 AA BB"))
	want := []npdu.Route{{Net: 5, Port: 1, Info: []byte{}}, {Net: 7, Port: 2, Info: []byte{0xAA, 0xBB}}}
	if diff := cmp.Diff(want, routes); diff != "" || err != nil {
		t.Errorf("routes, %v (-want +got):\n%s", err, diff)
	}
	if _, err := npdu.ParseRoutes(octets(t, "FF 00 05 01 00")); err == nil {
		t.Error("a table of 255 routes in four octets is accepted")
	}
}

// FuzzParse reads any NPDU: what is accepted must survive writing and reading.
func FuzzParse(f *testing.F) {
	for _, tt := range headers {
		f.Add(octets(f, tt.wire))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, rest, err := npdu.Parse(data)
		if err != nil {
			return
		}
		_, _ = npdu.ParseNetworks(rest)
		_, _ = npdu.ParseRoutes(rest)
		_, _, _ = npdu.ParseReject(rest)
		if h.Hops == 0 && !h.Destination.IsLocal() {
			h.Hops = 1 // 0 is written as 255
		}
		again, tail, err := npdu.Parse(append(npdu.Append(nil, h), rest...))
		if err != nil || again != h || !bytes.Equal(tail, rest) {
			t.Errorf("%+v was written and read as %+v: %v", h, again, err)
		}
	})
}
