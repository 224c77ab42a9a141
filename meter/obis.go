package meter

import (
	"fmt"
	"strconv"
	"strings"
)

// OBIS is the object code of IEC 62056-61: value groups A to F. A is the medium, B the channel, C the quantity,
// D the processing, E the tariff, F the billing period (255: the current one). The zero OBIS is none.
type OBIS [6]uint8

// ParseOBIS reads a code: "1-0:1.8.0*255", the same without "*255", or "1.0.1.8.0.255".
func ParseOBIS(text string) (OBIS, error) {
	o := OBIS{5: 255}
	separators := "-:..*"
	if !strings.ContainsRune(text, ':') {
		separators = "....."
	}
	rest := text
	for i := range o {
		part := rest
		more := false
		if i < len(separators) {
			part, rest, more = strings.Cut(rest, separators[i:i+1])
		}
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || part[0] == '+' {
			return OBIS{}, fmt.Errorf("OBIS code %q: group %c: %q: write a number from 0 to 255, as in 1-0:1.8.0*255", clip(text), 'A'+i, clip(part))
		}
		o[i] = uint8(n)
		if i == 4 && !more && separators[0] == '-' {
			return o, nil
		}
		if i < 5 && !more {
			return OBIS{}, fmt.Errorf("OBIS code %q: ends with group %c: write such as 1-0:1.8.0*255 or 1.0.1.8.0.255", clip(text), 'A'+i)
		}
	}
	return o, nil
}

// String returns the code as "1-0:1.8.0*255".
func (o OBIS) String() string {
	return fmt.Sprintf("%d-%d:%d.%d.%d*%d", o[0], o[1], o[2], o[3], o[4], o[5])
}

// IsZero reports whether there is no code.
func (o OBIS) IsZero() bool { return o == OBIS{} }

// Commodity returns what group A says; false for abstract objects and media without a commodity here.
func (o OBIS) Commodity() (Commodity, bool) {
	switch o[0] {
	case 1:
		return Electricity, true
	case 5, 6: // cooling and heat
		return Heat, true
	case 7:
		return Gas, true
	case 8, 9: // cold and hot water
		return Water, true
	}
	return 0, false
}
