package enum

import "fmt"

// ObjectType is the type of an object (clause 21, BACnetObjectType): 0–127 are the standard's,
// 128–1023 a vendor's.
type ObjectType uint16

// String returns the standard's name, such as it is written in the clause, or the number.
func (o ObjectType) String() string { return objectTypeTable().name(uint32(o)) }

// ParseObjectType reads a name, such as analog-input, or a number up to 1023.
func ParseObjectType(text string) (ObjectType, error) {
	n, ok := objectTypeTable().parse(text, 1023)
	if !ok {
		return 0, fmt.Errorf("unknown object type %q: write a name of the standard, such as analog-input, or a number", text)
	}
	return ObjectType(n), nil
}

// Property identifies a property (clause 21, BACnetPropertyIdentifier): 0–511 and 4194304 upwards
// are the standard's, 512–4194303 a vendor's.
type Property uint32

// String returns the standard's name, such as it is written in the clause, or the number.
func (p Property) String() string { return propertyTable().name(uint32(p)) }

// ParseProperty reads a name, such as present-value, or a number up to 4194303.
func ParseProperty(text string) (Property, error) {
	n, ok := propertyTable().parse(text, 0x3FFFFF)
	if !ok {
		return 0, fmt.Errorf("unknown property %q: write a name of the standard, such as present-value, or a number", text)
	}
	return Property(n), nil
}

// Unit is an engineering unit (clause 21, BACnetEngineeringUnits): 0–255 and 47808–49999 are the
// standard's, the others a vendor's.
type Unit uint32

// String returns the standard's name, such as it is written in the clause, or the number.
func (u Unit) String() string { return unitTable().name(uint32(u)) }

// ErrorClass groups error codes (clause 18).
type ErrorClass uint16

// String returns the standard's name, such as it is written in the clause, or the number.
func (e ErrorClass) String() string { return errorClassTable().name(uint32(e)) }

// ErrorCode says why a service failed (clause 18).
type ErrorCode uint16

// String returns the standard's name, such as it is written in the clause, or the number.
func (e ErrorCode) String() string { return errorCodeTable().name(uint32(e)) }

// RejectReason says why a request was not understood (clause 18.9): from 64 on a vendor's.
type RejectReason uint8

// String returns the standard's name, such as it is written in the clause, or the number.
func (r RejectReason) String() string { return rejectTable().name(uint32(r)) }

// AbortReason says why a transaction ended early (clause 18.10): from 64 on a vendor's.
type AbortReason uint8

// String returns the standard's name, such as it is written in the clause, or the number.
func (a AbortReason) String() string { return abortTable().name(uint32(a)) }

// EventState is the state of an object that detects events (clause 21, BACnetEventState).
type EventState uint16

// String returns the standard's name, such as it is written in the clause, or the number.
func (e EventState) String() string { return eventStateTable().name(uint32(e)) }

// EventType is the algorithm that detected an event (clause 21, BACnetEventType).
type EventType uint16

// String returns the standard's name, such as it is written in the clause, or the number.
func (e EventType) String() string { return eventTypeTable().name(uint32(e)) }

// Reliability says whether a present value can be trusted (clause 21, BACnetReliability).
type Reliability uint16

// String returns the standard's name, such as it is written in the clause, or the number.
func (r Reliability) String() string { return reliabilityTable().name(uint32(r)) }

// Symbol returns the symbol of the unit, such as °C; it is empty for a unit that has none or
// is a vendor's.
func (u Unit) Symbol() string {
	if s := unitTable().symbols[uint32(u)]; s != "-" {
		return s
	}
	return ""
}

// Known reports whether the standard's table has the property.
func (p Property) Known() bool {
	_, ok := propertyTable().names[uint32(p)]
	return ok
}

// ParseUnit returns the unit of a name of the standard, such as degrees-celsius, or of a symbol, such as °C; false if there is none.
func ParseUnit(text string) (Unit, bool) {
	t := unitTable()
	if n, ok := t.numbers[text]; ok {
		return Unit(n), true
	}
	n, ok := t.bySymbol()[text]
	return Unit(n), ok
}
