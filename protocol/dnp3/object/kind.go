package object

import "fmt"

// Kind says what a group of objects stands for.
type Kind uint8

// Kinds of objects, in the order of their groups.
const (
	KindAttribute          Kind = iota + 1 // g0
	KindBinaryInput                        // g1, g2
	KindDoubleBitInput                     // g3, g4
	KindBinaryOutput                       // g10, g11
	KindBinaryCommand                      // g12: CROB, pattern block and mask
	KindBinaryCommandEvent                 // g13
	KindCounter                            // g20, g22
	KindFrozenCounter                      // g21, g23
	KindAnalogInput                        // g30, g32
	KindFrozenAnalog                       // g31, g33
	KindDeadband                           // g34
	KindAnalogOutput                       // g40, g42
	KindAnalogCommand                      // g41
	KindAnalogCommandEvent                 // g43
	KindTime                               // g50
	KindCommonTime                         // g51
	KindDelay                              // g52
	KindClass                              // g60
	KindFile                               // g70
	KindIndications                        // g80
	KindActivation                         // g91
	KindInteger                            // g102
	KindOctetString                        // g110, g111
	KindTerminal                           // g112, g113
)

var kindNames = [...]string{
	KindAttribute:          "device attribute",
	KindBinaryInput:        "binary input",
	KindDoubleBitInput:     "double-bit binary input",
	KindBinaryOutput:       "binary output status",
	KindBinaryCommand:      "binary output command",
	KindBinaryCommandEvent: "binary output command event",
	KindCounter:            "counter",
	KindFrozenCounter:      "frozen counter",
	KindAnalogInput:        "analog input",
	KindFrozenAnalog:       "frozen analog input",
	KindDeadband:           "analog input dead-band",
	KindAnalogOutput:       "analog output status",
	KindAnalogCommand:      "analog output command",
	KindAnalogCommandEvent: "analog output command event",
	KindTime:               "time and date",
	KindCommonTime:         "common time of occurrence",
	KindDelay:              "time delay",
	KindClass:              "class",
	KindFile:               "file",
	KindIndications:        "internal indications",
	KindActivation:         "status of an activation",
	KindInteger:            "unsigned integer",
	KindOctetString:        "octet string",
	KindTerminal:           "virtual terminal",
}

// String returns the kind in words.
func (k Kind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}
