package survey

import (
	"strings"
	"unicode"

	"voltbus/driver/bacnet/pointlist"
	"voltbus/protocol/bacnet/enum"
)

// GuessColumn holds a guess of the Haystack markers of a point. Its name says that nobody has checked it.
const GuessColumn = "tag:haystack_guess"

// marker is what words of a name mean.
type marker struct {
	means string
	words []string
}

// The markers of Project Haystack 4 that a guess is made of, in the order of its text. Of each list the first that a name has counts.
//
//nolint:gochecknoglobals // constant tables
var (
	places = []marker{
		{"zone air", []string{"zone", "room", "space", "rm", "zn", "znt"}},
		{"discharge air", []string{"supply", "discharge", "da", "sa", "dat", "sat"}},
		{"return air", []string{"return", "ra", "rat"}},
		{"outside air", []string{"outside", "outdoor", "oa", "oat"}},
		{"mixed air", []string{"mixed", "ma", "mat"}},
		{"chilled water", []string{"chilled", "chw", "chws", "chwr"}},
		{"hot water", []string{"hot", "hw", "hws", "hwr", "hhw"}},
	}
	quantities = []marker{
		{"temp", []string{"temp", "temperature", "tmp", "znt", "dat", "sat", "rat", "oat", "mat", "°c"}},
		{"humidity", []string{"humidity", "rh"}},
		{"co2", []string{"co2"}},
		{"pressure", []string{"pressure", "press"}},
		{"flow", []string{"flow", "airflow", "cfm"}},
		{"damper", []string{"damper", "dmpr"}},
		{"valve", []string{"valve", "vlv"}},
		{"fan", []string{"fan"}},
		{"pump", []string{"pump"}},
		{"occupied", []string{"occupied", "occupancy", "occ"}},
		{"elec power", []string{"power", "kw"}},
		{"elec energy", []string{"energy", "kwh"}},
	}
	roles = []marker{
		{"sp", []string{"setpoint", "sp", "stpt", "setpt"}},
		{"cmd", []string{"command", "cmd", "enable"}},
	}
	unitsMean = map[string]string{"degC": "temp", "degF": "temp", "K": "temp", "Pa": "pressure", "kPa": "pressure", "kW": "elec power", "W": "elec power", "kWh": "elec energy"}
)

// Guess returns the Haystack markers that a point seems to have by its words, its unit and the type of its object, such as "zone air temp
// sensor"; "" if they do not tell.
func Guess(p *Point) string {
	words := wordsOf(p.Entry["name"])
	if len(words) == 0 {
		return ""
	}
	quantity := first(quantities, words)
	if quantity == "" {
		quantity = unitsMean[p.Entry["unit"]]
	}
	role := first(roles, words)
	if role == "" {
		role = roleOf(p.Item)
	}
	if quantity == "" || role == "" {
		return ""
	}
	return strings.TrimSpace(first(places, words) + " " + quantity + " " + role)
}

// roleOf is what the type of an object says: values may be anything.
func roleOf(item pointlist.Item) string {
	switch item.Object.Type { //nolint:exhaustive // the others do not say
	case enum.AnalogInput, enum.BinaryInput, enum.MultiStateInput:
		return "sensor"
	case enum.AnalogOutput, enum.BinaryOutput, enum.MultiStateOutput:
		return "cmd"
	}
	return ""
}

// first returns what the first of the markers means that the words have; "" if none.
func first(markers []marker, words map[string]bool) string {
	for _, m := range markers {
		for _, word := range m.words {
			if words[word] {
				return m.means
			}
		}
	}
	return ""
}

// wordsOf divides a name at all but letters and digits, and where a capital follows a small letter.
func wordsOf(name string) map[string]bool {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		before = r
		b.WriteRune(unicode.ToLower(r))
	}
	found := map[string]bool{}
	for word := range strings.FieldsFuncSeq(b.String(), func(r rune) bool { return r != '°' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		found[word] = true
	}
	return found
}
