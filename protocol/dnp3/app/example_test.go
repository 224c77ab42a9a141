package app_test

import (
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// A master reads its device's events and current values.
func ExampleWriter_Classes() {
	w := app.NewRequest(make([]byte, 0, 2048), app.Sequence(0).Single(), app.FuncRead)
	if err := w.Classes(app.Integrity); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("% X\n", w.Bytes())
	// Output: C0 01 3C 02 06 3C 03 06 3C 04 06 3C 01 06
}

// A master closes a breaker for 200 ms, and sets a set-point, in one request.
func ExampleWriter_CROB() {
	w := app.NewRequest(make([]byte, 0, 2048), app.Sequence(1).Single(), app.FuncSelect)
	pulse := object.CROB{Code: object.OpPulseOn | object.OpClose, Count: 1, OnTime: 200 * time.Millisecond}
	if err := w.CROB(7, pulse); err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Indexed(object.G41V3, object.Point{Index: 2, Value: object.Float(21.5)}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("% X\n", w.Bytes())
	// Output: C1 03 0C 01 28 01 00 07 00 41 01 C8 00 00 00 00 00 00 00 00 29 03 28 01 00 02 00 00 00 AC 41 00
}

// A master reads whatever a response carries.
func ExampleFragment_Headers() {
	response := []byte{
		0xC0, 0x81, 0x80, 0x00, // after a restart
		0x01, 0x02, 0x00, 0x03, 0x04, 0x81, 0x01, // two binary inputs
		0x20, 0x02, 0x28, 0x01, 0x00, 0x05, 0x00, 0x01, 0xFE, 0xFF, // an analog event
	}
	fragment, err := app.Parse(response)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(fragment.Function, fragment.IIN)
	for header, err := range fragment.Headers() {
		if err != nil {
			fmt.Println(err)
			return
		}
		for point := range header.Points() {
			fmt.Println(header.Variation.Kind(), point.Index, point.Value, point.Flags.Good())
		}
	}
	// Output:
	// RESPONSE 80 00 DEVICE_RESTART
	// binary input 3 true true
	// binary input 4 false true
	// analog input 5 -2 true
}

// An outstation fills a response until it is full.
func ExampleWriter_Static() {
	w := app.NewResponse(make([]byte, 0, 16), app.Sequence(2).Single(), app.FuncResponse, 0)
	n := uint32(0)
	for ; ; n++ {
		point := object.Point{Index: n, Value: object.Unsigned(uint64(n)), Flags: object.FlagOnline}
		if err := w.Static(object.G20V6, point); err != nil {
			fmt.Println(err)
			break
		}
	}
	fmt.Printf("%d points in % X\n", n, w.Bytes())
	// Output:
	// fragment full
	// 3 points in C2 81 00 00 14 06 00 00 02 00 00 01 00 02 00
}
