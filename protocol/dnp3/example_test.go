package dnp3_test

import (
	"fmt"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/transport"
)

// A confirmation on its way out through all layers, and in again.
func Example() {
	confirm := app.NewRequest(make([]byte, 0, 2), app.Sequence(3).Single()|app.UNS, app.FuncConfirm)
	header := link.Header{Control: link.UnconfirmedUserData.With(link.DIR), Destination: 10, Source: 1}
	wire, _, err := transport.AppendFragment(nil, header, 0, confirm.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("% X\n", wire)

	var parser link.Parser
	var joiner transport.Reassembler
	var room [link.MaxPayload]byte
	frame, _, ok := parser.Next(wire, &room)
	if !ok {
		return
	}
	if octets, complete := joiner.Add(frame.Payload); complete {
		fragment, err := app.Parse(octets)
		fmt.Println(frame.Destination, fragment.Function, fragment.Control, err)
	}
	// Output:
	// 05 64 08 C4 0A 00 01 00 FC 42 C0 D3 00 B0 F9
	// 10 CONFIRM FIR=1 FIN=1 CON=0 UNS=1 seq=3 <nil>
}
