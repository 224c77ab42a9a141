package metersim_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/lab/metersim"
	"voltbus/lab/rig"
	"voltbus/operation/metering"
	"voltbus/operation/tokens"
)

// partEnv makes the test binary play a part in a process of its own.
const partEnv = "VOLTBUS_TEST_PART"

func TestMain(m *testing.M) {
	if os.Getenv(partEnv) != "" {
		if err := metersim.Serve(context.Background(), os.Args[1], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = os.Setenv(partEnv, "1") // for the children
	goleak.VerifyTestMain(m)
}

// system starts a metering data system that knows so many simulated meters.
func system(t *testing.T, secure bool, meters int) (*rig.Running, metersim.Fleet) {
	t.Helper()
	file, err := metersim.Site{}.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n, err := metersim.System{Config: file, TLS: secure}.Open(t.Context(), []string{os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	from := metersim.FirstDay(time.Now())
	var list []answer.MeterEntry
	for i := range meters {
		list = append(list, answer.MeterEntry{
			ID: metersim.MeterID(i), Commodity: "electricity", From: &from,
			Channels: []answer.MeterChannel{{Number: 1, ReadingType: metersim.ReadingType(metersim.Minute), Interval: metersim.Minute.Seconds()}},
		})
	}
	if _, err := client.Do(t.Context(), n.Client, metering.Register, metering.Registration{Meters: list}); err != nil {
		t.Fatal(err)
	}
	issued, err := client.Do(t.Context(), n.Client, tokens.Issue, tokens.Recorder{Name: "simulator", Under: "meters"})
	if err != nil {
		t.Fatal(err)
	}
	return n, metersim.Fleet{
		URL: n.URL, Tokens: []string{issued.Token}, CA: n.CA(), From: from, Slots: metersim.Days * metersim.PerDay(metersim.Minute), Interval: metersim.Minute,
		Form: metersim.SOAP, Rhythm: metersim.Closed, Members: 2, Batch: 3, Meters: 4, Requests: 5, For: time.Minute,
	}
}

func TestEachFormIsTakenCompressedOrNotAndOverTLSOrNot(t *testing.T) {
	for _, secure := range []bool{false, true} {
		n, f := system(t, secure, 8)
		for i, form := range []string{metersim.SOAP, metersim.SOAP12, metersim.JSON, metersim.CSV, metersim.CIM, metersim.SenML, metersim.Block} {
			for _, gzip := range []bool{false, true} {
				if gzip && form == metersim.JSON { // which a node takes as it is only
					continue
				}
				f.Form, f.Gzip, f.Kept, f.Batch = form, gzip, i%2 == 0, 3
				if form == metersim.SOAP && !gzip {
					f.Batch = 1 // which has an operation of its own
				}
				o, err := f.Run(t.Context(), []string{os.Args[0]}, nil, nil)
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				want := uint64(10 * f.Batch)
				if o.Sent != want || o.Accepted != want || o.Failed+o.Refused != 0 || o.Rate <= 0 || o.Payload >= o.Plain {
					t.Errorf("%s, TLS %v, gzip %v: %+v", form, secure, gzip, o)
				}
				v, err := metersim.ReadValves(n)
				if err != nil || v.Messages != 10 || v.Readings != want || v.Before <= 0 || v.Handler <= 0 || v.After <= 0 {
					t.Errorf("%s: valves %+v, %v", form, v, err)
				}
			}
		}
	}
}

func TestRhythms(t *testing.T) {
	_, f := system(t, false, 8)
	f.Period = 20 * time.Millisecond
	for _, r := range []metersim.Rhythm{metersim.Closed, metersim.Serial} {
		f.Rhythm = r
		o, err := f.Run(t.Context(), []string{os.Args[0]}, nil, nil)
		if err != nil || o.Requests != 10 || o.Accepted != 30 || o.Stretch < 1 || o.HeadRoom.Sent != 10 {
			t.Errorf("%s: %+v, %v", r, o, err)
		}
		f.Skip = o.Reached
	}
	f.Rhythm, f.Requests, f.For = metersim.Open, 0, 200*time.Millisecond
	if o, err := f.Run(t.Context(), []string{os.Args[0]}, nil, nil); err != nil || o.Requests != 20 || o.Accepted != 60 {
		t.Errorf("open: %+v, %v", o, err)
	}
}

func TestWhatANodeRefusesIsCountedAndToldWithItsReason(t *testing.T) {
	_, f := system(t, false, 4) // those of the second member are not registered
	o, err := f.Run(t.Context(), []string{os.Args[0]}, nil, nil)
	if err != nil || o.Accepted != 15 || o.Refused != 15 || o.Failed != 5 || o.First == "" {
		t.Errorf("%+v, %v", o, err)
	}
	f.Tokens = []string{"none"}
	if o, err := f.Run(t.Context(), []string{os.Args[0]}, nil, nil); err != nil || o.Accepted != 0 || o.Failed != 10 {
		t.Errorf("without a token: %+v, %v", o, err)
	}
}

func TestAFleetThatCannotBeIsRefused(t *testing.T) {
	ok := metersim.Fleet{Tokens: []string{"x"}, URL: "http://127.0.0.1:1", Form: metersim.JSON, Rhythm: metersim.Closed, Members: 1, Batch: 1, Meters: 1, Slots: 1, Interval: metersim.Quarter, For: time.Second}
	for name, change := range map[string]func(*metersim.Fleet){
		"form":    func(f *metersim.Fleet) { f.Form = "fax" },
		"gzip":    func(f *metersim.Fleet) { f.Gzip = true },
		"token":   func(f *metersim.Fleet) { f.Tokens = nil },
		"length":  func(f *metersim.Fleet) { f.Interval = time.Hour },
		"rhythm":  func(f *metersim.Fleet) { f.Rhythm = "waltz" },
		"members": func(f *metersim.Fleet) { f.Members = 0 },
		"time":    func(f *metersim.Fleet) { f.For = 0 },
		"address": func(f *metersim.Fleet) { f.URL = "nowhere" },
		"period":  func(f *metersim.Fleet) { f.Rhythm = metersim.Open },
		"meters":  func(f *metersim.Fleet) { f.Batch = 2 }, // which have no intervals for it
	} {
		f := ok
		change(&f)
		if o, err := f.Run(t.Context(), []string{os.Args[0]}, nil, nil); err == nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
}
