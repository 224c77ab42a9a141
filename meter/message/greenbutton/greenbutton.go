// Package greenbutton reads and writes readings of meters as Green Button files: an Atom feed (RFC 4287) whose entries hold
// the resources of the Energy Services Provider Interface (ESPI, NAESB REQ.21, schema espi.xsd version 3.3): UsagePoint,
// MeterReading, ReadingType, IntervalBlock with its IntervalReadings, LocalTimeParameters and UsageSummary. The entries
// belong together by their links.
package greenbutton

import (
	"math"
	"strings"
	"time"

	"voltbus/meter"
)

// Media is the media type of a feed (RFC 4287, section 7).
const Media = "application/atom+xml"

// The namespaces.
const (
	atomSpace = "http://www.w3.org/2005/Atom"
	espiSpace = "http://naesb.org/espi"
)

// Values of the type QualityOfReading.
const (
	qualityValid        = 0
	qualityEdited       = 7
	qualityReferenceDay = 8
	qualityLinear       = 9
	qualityQuestionable = 10
	qualityDerived      = 11
	qualityProjected    = 12
	qualityRaw          = 14
	qualityNormalized   = 15
	qualityOther        = 16 // estimated, nobody says how
)

// invented says why a reading of a quality is no reading of a meter; "" for one that is.
func invented(quality int) string {
	switch quality {
	case qualityEdited:
		return "quality 7: a person set it, and readings are what meters measured: set it here as an edit, with the reason"
	case qualityReferenceDay, qualityLinear:
		return "quality 8 or 9: it was estimated, and readings are what meters measured: this node estimates what is missing"
	case qualityDerived, qualityProjected, qualityNormalized:
		return "quality 11, 12 or 15: it was calculated, and readings are what meters measured"
	}
	return ""
}

// The values of TimeAttributeKind, which are those of the measuring period of IEC 61968-9, annex C, by their length in seconds.
func measuringPeriod(seconds int64) int16 {
	switch seconds {
	case 60:
		return 3
	case 120:
		return 10
	case 180:
		return 14
	case 300:
		return 6
	case 600:
		return 1
	case 900:
		return 2
	case 1200:
		return 31
	case 1800:
		return 5
	case 3600:
		return 7
	case 86400:
		return 4
	}
	return 0
}

// A field of the type ReadingType has the values of the part of a reading type of IEC 61968-9 beside it.
type field struct {
	name   string
	part   int
	always bool // it is written also if it is 0
}

// In place of a part.
const (
	defaultQuality = -1
	intervalLength = -2
)

// fields lists those of numbers, in the order of the schema.
func fields() []field {
	return []field{
		{"accumulationBehaviour", meter.Accumulation, true},
		{"commodity", meter.CommodityKind, true},
		{"consumptionTier", meter.ConsumptionTier, false},
		{"currency", meter.Currency, false},
		{"dataQualifier", meter.Aggregate, true},
		{"defaultQuality", defaultQuality, true},
		{"flowDirection", meter.FlowDirection, true},
		{"intervalLength", intervalLength, false},
		{"kind", meter.MeasurementKind, true},
		{"phase", meter.Phases, true},
		{"powerOfTenMultiplier", meter.PowerOfTen, true},
		{"timeAttribute", meter.MacroPeriod, true},
		{"tou", meter.TOU, false},
		{"uom", meter.Unit, true},
		{"cpp", meter.CPP, false},
		{"measuringPeriod", meter.MeasuringPeriod, false},
	}
}

// multipliers returns the powers of ten that UnitMultiplierKind names, the greatest first.
func multipliers() [13]int {
	return [...]int{mostPower, 9, 6, 3, 2, 1, 0, -1, -2, -3, -6, -9, -mostPower}
}

const mostPower = 12

// mostValue is the greatest value of Int48.
const mostValue = 1<<47 - 1

// finest is how many decimals of the unit of a channel are written at most.
const finest = 9

// Scale finds the power of ten with which all values of a channel are whole numbers. The zero value is ready for use.
type Scale struct {
	decimals int
	greatest float64
}

// Add takes a value of the channel into account.
func (s *Scale) Add(v float64) {
	s.greatest = max(s.greatest, math.Abs(v))
	for ; s.decimals < finest; s.decimals++ {
		p := math.Pow10(s.decimals)
		if math.Abs(math.Round(v*p)/p-v) <= 1e-15*math.Abs(v) {
			return
		}
	}
}

// exponent returns the power of ten of the values in a file, for a unit with a power of ten of its own: the greatest that
// UnitMultiplierKind names and that loses nothing, but none with which a value would not fit.
func (s *Scale) exponent(unit int) int {
	for _, e := range multipliers() {
		if e <= unit-s.decimals {
			return s.fitting(unit, e)
		}
	}
	return s.fitting(unit, -mostPower)
}

func (s *Scale) fitting(unit, e int) int {
	for e < mostPower && s.greatest*math.Pow10(unit-e) > mostValue {
		e++
	}
	return e
}

// scaled returns v × 10^exponent, rounded once.
func scaled(v float64, exponent int) float64 {
	if exponent < 0 {
		return v / math.Pow10(-exponent)
	}
	return v * math.Pow10(exponent)
}

// qualityOf returns the quality of a version.
func qualityOf(v *meter.Version) int {
	switch {
	case v.Stage == meter.Edited:
		return qualityEdited
	case v.Stage == meter.Estimated:
		return qualityOfRule(v.Origin.Rule)
	case v.Status != 0:
		return qualityQuestionable
	case v.Stage == meter.Validated:
		return qualityValid
	}
	return qualityRaw
}

// day returns the beginning of the local day of a moment and of the one behind it.
func day(t time.Time, zone *time.Location) (from, to time.Time) {
	y, m, d := t.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, zone), time.Date(y, m, d+1, 0, 0, 0, 0, zone)
}

// qualityOfRule returns the quality of an estimate by the rule that made it, see vee.Method.
func qualityOfRule(rule string) int {
	switch {
	case strings.Contains(rule, "linear"):
		return qualityLinear
	case strings.Contains(rule, "like-day"):
		return qualityReferenceDay
	case strings.Contains(rule, "profile"):
		return qualityDerived
	}
	return qualityOther
}
