package meter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ReadingType is the code of IEC 61968-9, annex C: 18 numbers that say what a reading means. Its text is the
// numbers with dots, such as "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0": forward energy of electricity in kWh, as
// differences each 15 minutes.
type ReadingType [18]int16

// The parts of a reading type, as indices.
const (
	MacroPeriod = iota
	Aggregate
	MeasuringPeriod
	Accumulation
	FlowDirection
	CommodityKind
	MeasurementKind
	InterharmonicNumerator
	InterharmonicDenominator
	ArgumentNumerator
	ArgumentDenominator
	TOU
	CPP
	ConsumptionTier
	Phases
	PowerOfTen
	Unit
	Currency
)

// Values of parts that the program itself asks for.
const (
	AccumulationBulk  = 1  // a register
	AccumulationDelta = 4  // the quantity of one interval
	FlowForward       = 1  // delivered to the customer
	FlowNet           = 4  // may be negative
	FlowReverse       = 19 // received from the customer
	UnitWh            = 72
)

var partNames = [18]string{
	"macroPeriod", "aggregate", "measuringPeriod", "accumulation", "flowDirection", "commodity",
	"measurementKind", "interharmonic.numerator", "interharmonic.denominator", "argument.numerator",
	"argument.denominator", "tou", "cpp", "consumptionTier", "phases", "multiplier", "unit", "currency",
}

// PartName returns the name of a part as in the standard, such as "measuringPeriod"; "" outside 0 to 17.
func PartName(part int) string {
	if part < 0 || part >= len(partNames) {
		return ""
	}
	return partNames[part]
}

// ParseReadingType reads the text of a code. Values that the standard does not list are accepted: Check finds
// them.
func ParseReadingType(text string) (ReadingType, error) {
	var r ReadingType
	parts := strings.Split(text, ".")
	if len(parts) != len(r) {
		return ReadingType{}, fmt.Errorf("reading type %q: has %d parts: write 18 numbers with dots between", clip(text), len(parts))
	}
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 16)
		if err != nil || p[0] == '+' || (len(p) > 1 && p[0] == '0') || strings.HasPrefix(p, "-0") {
			return ReadingType{}, fmt.Errorf("reading type %q: part %d (%s): %q: write a whole number", clip(text), i+1, partNames[i], clip(p))
		}
		r[i] = int16(n)
	}
	return r, nil
}

// clip shortens text of devices for messages.
func clip(text string) string {
	if len(text) > 80 {
		return strings.ToValidUTF8(text[:80], "") + "…"
	}
	return text
}

// String returns the code as text.
func (r ReadingType) String() string {
	b := make([]byte, 0, 48)
	for i, n := range r {
		if i > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}

// Check returns everything about the code that the standard does not allow, joined.
func (r ReadingType) Check() error {
	var problems []error
	for i, n := range r {
		if !allowed(i, n) {
			problems = append(problems, fmt.Errorf("%s: %d: the standard lists no such value", partNames[i], n))
		}
	}
	for _, numerator := range []int{InterharmonicNumerator, ArgumentNumerator} {
		if r[numerator] != 0 && r[numerator+1] == 0 {
			problems = append(problems, fmt.Errorf("%s: 0: write 1 or more beside a numerator", partNames[numerator+1]))
		}
	}
	return errors.Join(problems...)
}

// allowed reports whether a part may have a value.
func allowed(part int, n int16) bool {
	switch part {
	case TOU, CPP, ConsumptionTier:
		return n >= 0 && n <= 255
	case PowerOfTen:
		return n >= -12 && n <= 12
	case Currency:
		return n >= 0 && n <= 999 // ISO 4217, numeric
	case InterharmonicNumerator, InterharmonicDenominator, ArgumentNumerator, ArgumentDenominator:
		return n >= 0
	}
	_, ok := valueNames[part][n]
	return ok
}

// Describe returns the name of a part's value, such as "fifteenMinute"; the number as text where the standard
// gives no name; "" outside 0 to 17.
func (r ReadingType) Describe(part int) string {
	if part < 0 || part >= len(r) {
		return ""
	}
	if name, ok := valueNames[part][r[part]]; ok {
		return name
	}
	return strconv.Itoa(int(r[part]))
}

// Length returns the length of the interval that the measuring period says: the sub-interval of a rolling
// block; 0 if it says none.
func (r ReadingType) Length() time.Duration {
	n := r[MeasuringPeriod]
	if n == 0 && r[MacroPeriod] == 11 { // daily
		return 24 * time.Hour
	}
	return time.Duration(periodMinuteTable[n]) * time.Minute
}

// UnitName returns the unit with the prefix of its power of ten, such as "kWh"; "10^5 Wh" where no prefix exists.
func (r ReadingType) UnitName() string {
	unit, ok := valueNames[Unit][r[Unit]]
	if !ok {
		unit = fmt.Sprintf("unit(%d)", r[Unit])
	}
	if unit == "none" {
		unit = ""
	}
	prefix, ok := prefixNames[r[PowerOfTen]]
	if !ok {
		return strings.TrimSpace(fmt.Sprintf("10^%d %s", r[PowerOfTen], unit))
	}
	return prefix + unit
}

var prefixNames = map[int16]string{
	-12: "p", -9: "n", -6: "µ", -3: "m", -2: "c", -1: "d", 0: "", 1: "da", 2: "h", 3: "k", 6: "M", 9: "G", 12: "T",
}
