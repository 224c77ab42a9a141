// Package app encodes and decodes application fragments of DNP3 (IEEE 1815-2012 clause 4): the fragment header, object headers and their
// data. What the objects themselves say is the business of package object.
//
//	request   control | function | object headers …
//	response  control | function | IIN1 IIN2 | object headers …
//
// [Parse] reads the first two or four octets; [Fragment.Headers] then walks the
// object headers, and each [Header] walks its objects:
//
//	fragment, err := app.Parse(octets)
//	…
//	for header, err := range fragment.Headers() {
//		…
//		for point := range header.Points() {
//			use(header.Variation.Kind(), point)
//		}
//	}
//
// Points are values of inputs, outputs and counters in one shape; [Header.Objects]
// gives everything else as octets with typed views. Counts and ranges claimed by a
// message are checked against the octets that are there before anything is used.
//
// [Writer] builds requests and responses in a buffer that it never outgrows.
//
// The package is a pure codec: no sockets, goroutines or logs. Reading and writing
// points allocate nothing; octets handed out share the memory of the fragment.
package app
