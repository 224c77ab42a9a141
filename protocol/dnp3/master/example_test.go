package master_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
)

// meter serves an outstation 10 with a power of 450 and a name.
func meter(ctx context.Context) (*outstation.Outstation, *outstation.Server) {
	device, err := outstation.New(outstation.Config{Points: []outstation.PointConfig{
		{Kind: object.KindAnalogInput, Class: app.Class2}, {Kind: object.KindOctetString, Index: 3},
	}})
	if err != nil {
		panic(err)
	}
	device.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindAnalogInput, object.Point{Value: object.Float(450), Flags: object.FlagOnline}, outstation.Suppress)
		tx.SetString(3, []byte("meter"), outstation.Suppress)
	})
	server, err := outstation.Listen(ctx, "127.0.0.1:0", 10, device, outstation.SessionConfig{Master: 1, Unsolicited: true})
	if err != nil {
		panic(err)
	}
	return device, server
}

// Master 1 asks outstation 10 what it has.
func ExampleReadOnce() {
	ctx := context.Background()
	_, device := meter(ctx) // in place of one in the field
	defer device.Close()

	readings, err := master.ReadOnce(ctx, device.Addr().String(), 1, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range readings {
		fmt.Println(r.Variation.Kind(), r.Index, r.Value, string(r.Text), r.Flags.Good())
	}
	// Output:
	// analog input 0 450  true
	// octet string 3 none meter true
}

// changes hands on the values that arrive.
type changes chan float64

func (changes) Begin(master.Info) {}
func (changes) End(master.Info)   {}

func (c changes) Header(h app.Header) {
	for p := range h.Points() {
		c <- p.Value.Float()
	}
}

// Master 1 reads outstation 10, and is told of what changes there.
func ExampleDial() {
	ctx := context.Background()
	device, server := meter(ctx) // in place of one in the field
	defer server.Close()

	values := make(changes, 10)
	conn, err := master.Dial(ctx, server.Addr().String(), 1, master.Config{
		Outstation: 10, Startup: app.Integrity, Enable: app.EventClasses,
	}, values)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	fmt.Println(<-values)
	device.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindAnalogInput, object.Point{Value: object.Float(460), Flags: object.FlagOnline}, outstation.Detect)
	})
	fmt.Println(<-values)
	// Output:
	// 450
	// 460
}

func TestAnOutstationThatDoesNotAnswerIsReported(t *testing.T) {
	_, server := meter(t.Context())
	address := server.Addr().String()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := master.ReadOnce(ctx, address, 1, 11); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wrong link address gives %v", err)
	}
	hasty := master.Config{Outstation: 11, LeaveEvents: true, ResponseTimeout: time.Millisecond}
	conn, err := master.Dial(t.Context(), address, 1, hasty, make(changes))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Do(t.Context(), master.ReadClasses(app.Class0)); !errors.Is(err, master.ErrTimeout) {
		t.Errorf("a wrong link address gives %v", err)
	}
	conn.Close()
	server.Close()
	if _, err := master.ReadOnce(t.Context(), address, 1, 10); err == nil {
		t.Error("nobody listens, and it answers")
	}
}
