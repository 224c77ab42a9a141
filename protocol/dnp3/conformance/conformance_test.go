package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/conformance"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// capturesVariable names the directory of the recorded procedures, which has a directory
// with a dump.pcap for each section.
const capturesVariable = "VOLTBUS_DNP3_CAPTURES"

// reasonsFile says why our outstation differs from the recorded one in some sections.
const reasonsFile = "testdata/reasons.txt"

// device is configured as the recorded one was.
func device(traits conformance.Traits) (*outstation.Outstation, *outstation.Session, station.Config, error) {
	c := outstation.Config{TimeSync: time.Hour, MaxControls: 4}
	input := func(kind object.Kind, class app.Classes, static, event object.Variation) {
		for _, index := range []uint32{0, 41, 1024, 65535} {
			c.Points = append(c.Points, outstation.PointConfig{
				Kind: kind, Index: index, Class: class, Static: static, Event: event, Initial: object.Unsigned(0),
			})
		}
	}
	input(object.KindBinaryInput, app.Class1, object.G1V2, object.G2V1)
	if traits.DoubleBit {
		input(object.KindDoubleBitInput, app.Class1, object.G3V2, object.G4V1)
	}
	input(object.KindAnalogInput, app.Class3, object.G30V2, object.G32V1)
	input(object.KindCounter, app.Class2, object.G20V2, object.G22V1)
	input(object.KindFrozenCounter, 0, object.G21V2, object.G23V1)
	for index := range uint32(20) {
		c.Points = append(c.Points,
			outstation.PointConfig{Kind: object.KindBinaryOutput, Index: index, Static: object.G10V2},
			outstation.PointConfig{Kind: object.KindAnalogOutput, Index: index, Static: object.G40V2})
	}
	c.Callbacks = outstation.Callbacks{
		Operate: func(tx *outstation.Tx, c outstation.Command) object.Status {
			kind := object.KindBinaryOutput
			if c.Kind == object.KindAnalogCommand {
				kind = object.KindAnalogOutput
			}
			if _, known := tx.Get(kind, c.Index); !known {
				return object.StatusNotSupported
			}
			return object.StatusSuccess
		},
		SetTime: func(time.Time) bool { return true },
		Restart: func(bool) (time.Duration, bool) { return time.Second, true },
	}
	o, err := outstation.New(c)
	if err != nil {
		return nil, nil, station.Config{}, err
	}
	o.Update(func(tx *outstation.Tx) {
		for _, p := range c.Points {
			tx.Set(p.Kind, object.Point{Index: p.Index, Value: object.Unsigned(0), Flags: object.FlagOnline}, outstation.Suppress)
		}
	})
	s, err := o.Session(outstation.SessionConfig{Master: 1, Unsolicited: traits.Unsolicited})
	return o, s, station.Config{Local: 1024, Remote: 1}, err
}

func TestRecordedProceduresEndAsStated(t *testing.T) {
	dir := os.Getenv(capturesVariable)
	if dir == "" {
		t.Skipf("%s names no directory of captures: the recorded conformance procedures were NOT replayed", capturesVariable)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "dump.pcap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures in %s: %v", dir, err)
	}
	reasons := readReasons(t)
	for _, file := range files {
		section := filepath.Base(filepath.Dir(file))
		t.Run(section, func(t *testing.T) {
			octets, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			moments, err := conformance.ParseCapture(octets, 20000)
			if err != nil {
				t.Fatal(err)
			}
			if len(moments) == 0 {
				t.Skip("nothing was recorded: the procedure was skipped")
			}
			differences, err := conformance.Replay(moments, device)
			if err != nil {
				t.Fatal(err)
			}
			var text []string
			for _, d := range differences {
				text = append(text, d.String())
			}
			reason, expected := reasons[section]
			switch {
			case len(text) > 0 && !expected:
				t.Error(fmt.Sprintf("%d differences\n", len(text)) + strings.Join(text, "\n"))
			case len(text) == 0 && expected:
				t.Errorf("it agrees now: take it out of %s, where it says %q", reasonsFile, reason)
			}
		})
	}
}

// readReasons reads why some replays differ.
func readReasons(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(reasonsFile)
	if err != nil {
		t.Fatal(err)
	}
	reasons := make(map[string]string)
	for line := range strings.Lines(string(content)) {
		section, reason, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			t.Fatalf("%s: %q has no reason", reasonsFile, line)
		}
		reasons[section] = reason
	}
	return reasons
}
