package object

// Flags are the quality flags of a point (Annex A). Bits 0–4 mean the same for
// every kind of point; bits 5 and 6 depend on it. The state of a binary point is
// never in Flags but in the point's value.
type Flags uint8

// Flags of every kind of point.
const (
	// FlagOnline says that the value comes from the field as it should.
	FlagOnline Flags = 0x01
	// FlagRestart says that no value came since the device restarted.
	FlagRestart Flags = 0x02
	// FlagCommLost says that the source of the value cannot be reached.
	FlagCommLost Flags = 0x04
	// FlagRemoteForced says that another device overrides the value.
	FlagRemoteForced Flags = 0x08
	// FlagLocalForced says that the device itself overrides the value.
	FlagLocalForced Flags = 0x10
)

// Flags of some kinds of points.
const (
	// FlagChatter says that a binary or double-bit input changes too fast.
	FlagChatter Flags = 0x20
	// FlagRollover says that a counter passed its end; obsolete, masters ignore it.
	FlagRollover Flags = 0x20
	// FlagOverRange says that an analog value does not fit what is reported.
	FlagOverRange Flags = 0x20
	// FlagDiscontinuity says that a counter's value must not be compared with
	// the one before.
	FlagDiscontinuity Flags = 0x40
	// FlagReference says that an analog value's reference is wrong.
	FlagReference Flags = 0x40
)

// Has reports whether all flags of want are set.
func (f Flags) Has(want Flags) bool { return f&want == want }

// Good reports whether the value can be used as it stands: online, not restarted,
// reachable. Forced values count as good.
func (f Flags) Good() bool {
	return f&(FlagOnline|FlagRestart|FlagCommLost) == FlagOnline
}
