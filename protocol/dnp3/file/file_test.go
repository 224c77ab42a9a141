package file_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
)

func octets(tb testing.TB, text string) []byte {
	tb.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func TestFileObjectsSurviveTheRoundTrip(t *testing.T) {
	created := object.Timestamp{Milliseconds: 1349827200000, Quality: object.TimeAbsolute}
	decode := func(o object.Raw) (any, error) {
		switch o.Variation {
		case object.G70V2:
			return file.ParseAuth(o)
		case object.G70V3:
			return file.ParseCommand(o)
		case object.G70V4:
			return file.ParseCommandStatus(o)
		case object.G70V5:
			return file.ParseBlock(o)
		case object.G70V6:
			return file.ParseBlockStatus(o)
		case object.G70V7:
			return file.ParseDescriptor(o)
		default:
			return file.ParseName(o), nil
		}
	}
	cases := []struct {
		name string
		sent app.FreeObject
	}{
		{"authentication", file.Auth{User: "alice", Password: "secret", Key: 7}},
		{"command", file.Command{Name: "/logs/a", Created: created, Permissions: 0o644, Key: 7, Size: 9, Mode: file.ModeWrite, BlockSize: 512, Request: 3}},
		{"command status", file.CommandStatus{Handle: 1, Size: 2, BlockSize: 3, Request: 4, Status: file.Locked, Text: "in use"}},
		{"block", file.Block{Handle: 1, Number: 5, Last: true, Data: []byte{1, 2, 3}}},
		{"block status", file.BlockStatus{Handle: 1, Number: 5, Status: file.BlockSequence, Text: "gap"}},
		{"descriptor", file.Descriptor{Name: "a", Type: file.Simple, Size: 9, Created: created, Permissions: 0o400, Request: 3}},
		{"name", file.Name("/logs/a")},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			octets := tc.sent.Append(nil)
			if len(octets) != tc.sent.EncodedSize() {
				t.Errorf("%d octets, EncodedSize says %d", len(octets), tc.sent.EncodedSize())
			}
			got, err := decode(object.Raw{Variation: tc.sent.Variation(), Data: octets})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(any(tc.sent), got); diff != "" {
				t.Errorf("object differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMalformedFileObjectsAreRefused(t *testing.T) {
	short := object.Raw{Variation: object.G70V3, Data: make([]byte, 25)}
	if _, err := file.ParseCommand(short); err == nil || err.Error() != "decode g70v3: 25 octets, at least 26 needed" {
		t.Errorf("error is %v", err)
	}
	beyond := object.Raw{Variation: object.G70V3, Data: make([]byte, 26)}
	beyond.Data[0], beyond.Data[2] = 26, 5
	if _, err := file.ParseCommand(beyond); err == nil || err.Error() != "decode g70v3: string of 5 octets at octet 26 of 26" {
		t.Errorf("error is %v", err)
	}
	if _, err := file.ParseBlock(beyond); err == nil || err.Error() != "decode g70v5: the object is g70v3" {
		t.Errorf("error is %v", err)
	}
}

func TestADirectoryIsReadEntryByEntry(t *testing.T) {
	content := octets(t, "14 00 01 00 01 00 09 00 00 00 00 00 00 00 00 00 00 00 00 00 61"+
		"14 00 02 00 00 00 03 00 00 00 00 00 00 00 00 00 00 00 00 00 62 63")
	var names []string
	for len(content) > 0 {
		d, rest, err := file.NextDescriptor(content)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, d.Name)
		content = rest
	}
	if got := strings.Join(names, " "); got != "a bc" {
		t.Errorf("names are %s", got)
	}
}

func TestADirectoryThatPointsNowhereEnds(t *testing.T) {
	content := make([]byte, 40) // the name would stand at octet 0 with no length
	_, rest, err := file.NextDescriptor(content)
	if err == nil && len(rest) >= len(content) {
		t.Error("reading makes no progress")
	}
}
