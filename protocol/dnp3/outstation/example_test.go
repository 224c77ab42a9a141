package outstation_test

import (
	"context"
	"fmt"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
)

// An outstation with a temperature, which a master asks for.
func ExampleListen() {
	ctx := context.Background()
	device, err := outstation.New(outstation.Config{Points: []outstation.PointConfig{
		{Kind: object.KindAnalogInput, Index: 4, Class: app.Class2, Static: object.G30V5},
	}})
	if err != nil {
		panic(err)
	}
	device.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindAnalogInput, object.Point{Index: 4, Value: object.Float(21.5), Flags: object.FlagOnline}, outstation.Detect)
	})
	server, err := outstation.Listen(ctx, "127.0.0.1:0", 10, device, outstation.SessionConfig{Master: 1, Unsolicited: true})
	if err != nil {
		panic(err)
	}
	defer server.Close()

	readings, err := master.ReadOnce(ctx, server.Addr().String(), 1, 10)
	fmt.Println(len(readings), readings[0].Index, readings[0].Value, err)
	// Output: 1 4 21.5 <nil>
}
