package server

import (
	"slices"

	"voltbus/protocol/bacnet/enum"
)

// presentValueTable are the properties that objects with a present value must have (clause 12).
var presentValueTable = []enum.Property{
	enum.PropertyPresentValue, enum.PropertyStatusFlags, enum.PropertyEventState, enum.PropertyOutOfService,
}

// requiredTable are those of single types beside them.
var requiredTable = map[enum.ObjectType][]enum.Property{
	enum.AnalogInput:      {enum.PropertyUnits},
	enum.AnalogOutput:     {enum.PropertyUnits, enum.PropertyPriorityArray, enum.PropertyRelinquishDefault},
	enum.AnalogValue:      {enum.PropertyUnits},
	enum.BinaryInput:      {enum.PropertyPolarity},
	enum.BinaryOutput:     {enum.PropertyPolarity, enum.PropertyPriorityArray, enum.PropertyRelinquishDefault},
	enum.MultiStateInput:  {enum.PropertyNumberOfStates},
	enum.MultiStateOutput: {enum.PropertyNumberOfStates, enum.PropertyPriorityArray, enum.PropertyRelinquishDefault},
	enum.MultiStateValue:  {enum.PropertyNumberOfStates},
	enum.TrendLog: {
		enum.PropertyEnable, enum.PropertyStopWhenFull, enum.PropertyBufferSize, enum.PropertyLogBuffer, enum.PropertyRecordCount,
		enum.PropertyTotalRecordCount, enum.PropertyEventState, enum.PropertyLoggingType, enum.PropertyStatusFlags,
	},
	enum.Device: {
		enum.PropertySystemStatus, enum.PropertyVendorName, enum.PropertyVendorIdentifier, enum.PropertyModelName,
		enum.PropertyFirmwareRevision, enum.PropertyApplicationSoftwareVersion, enum.PropertyProtocolVersion,
		enum.PropertyProtocolRevision, enum.PropertyProtocolServicesSupported, enum.PropertyProtocolObjectTypesSupported,
		enum.PropertyObjectList, enum.PropertyMaxAPDULengthAccepted, enum.PropertySegmentationSupported, enum.PropertyMaxSegmentsAccepted,
		enum.PropertyAPDUSegmentTimeout, enum.PropertyAPDUTimeout, enum.PropertyNumberOfAPDURetries, enum.PropertyDeviceAddressBinding,
		enum.PropertyDatabaseRevision,
	},
}

// required reports whether objects of a type must have a property. Others that they have are optional.
func required(kind enum.ObjectType, p enum.Property) bool {
	if slices.Contains(requiredTable[kind], p) {
		return true
	}
	return kind != enum.Device && kind != enum.TrendLog && slices.Contains(presentValueTable, p)
}
