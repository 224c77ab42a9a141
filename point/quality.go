package point

import "fmt"

// Quality tells how far a sample can be trusted. The numbers are part of the block format and of the store:
// never change them. The upper two bits are the class, the rest the reason.
type Quality uint8

// The qualities. Good and its variants are fit for any use; Uncertain may be plotted but not
// billed; Bad carries no usable value.
const (
	Good        Quality = 0x00
	Substituted Quality = 0x01 // a person or program replaced the measured value by it
	Estimated   Quality = 0x02 // calculated for a gap
	Edited      Quality = 0x03 // corrected by a person
	Override    Quality = 0x04 // the device reports a locally forced value
	Backfilled  Quality = 0x05 // the device logged it while unreachable, and reported it later

	Uncertain      Quality = 0x40
	UncertainClock Quality = 0x41 // the time is doubtful: the clock of the device or node jumped
	UncertainRange Quality = 0x42 // outside the point's declared range

	Bad            Quality = 0x80
	BadUnreachable Quality = 0x81 // the device or its line does not answer
	BadTimeout     Quality = 0x82 // no answer in time
	BadDevice      Quality = 0x83 // the device answered with an error for this point
	BadConfig      Quality = 0x84 // the point does not exist on the device, or its type does not match
	BadValue       Quality = 0x85 // the answer cannot be decoded
	BadStale       Quality = 0x86 // the last value is too old
	BadSensor      Quality = 0x87 // the device reports a fault of the sensor

	// Released means that a point is not commanded, for points below control/ and control-level/. There is no
	// usable value, so IsBad is true, but this is not a fault.
	Released Quality = 0x88
)

var qualityNames = map[Quality]string{
	Good: "good", Substituted: "good(substituted)", Estimated: "good(estimated)",
	Edited: "good(edited)", Override: "good(override)", Backfilled: "good(backfilled)",
	Uncertain: "uncertain", UncertainClock: "uncertain(clock)", UncertainRange: "uncertain(range)",
	Bad: "bad", BadUnreachable: "bad(unreachable)", BadTimeout: "bad(timeout)",
	BadDevice: "bad(device)", BadConfig: "bad(config)", BadValue: "bad(value)",
	BadStale: "bad(stale)", BadSensor: "bad(sensor)",
	Released: "released",
}

// String returns the class and, in brackets, the reason: "good", "bad(timeout)"; "released" alone.
func (q Quality) String() string {
	if s, ok := qualityNames[q]; ok {
		return s
	}
	return fmt.Sprintf("quality(0x%02x)", uint8(q))
}

// ParseQuality is the inverse of String; false for an unknown name.
func ParseQuality(name string) (Quality, bool) {
	for q, s := range qualityNames {
		if s == name {
			return q, true
		}
	}
	return Bad, false
}

// IsGood reports whether the value is fit for any use.
func (q Quality) IsGood() bool { return q < Uncertain }

// IsBad reports whether there is no usable value.
func (q Quality) IsBad() bool { return q >= Bad }
