package server

import (
	"context"
	"time"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

// self is the device object (clause 12.11).
type self struct{ device *Device }

func (s *self) ID() encoding.ObjectID { return s.device.ID() }
func (s *self) Name() string          { return s.device.config.Name }

var selfTable = []enum.Property{
	enum.PropertySystemStatus, enum.PropertyVendorName, enum.PropertyVendorIdentifier, enum.PropertyModelName,
	enum.PropertyFirmwareRevision, enum.PropertyApplicationSoftwareVersion, enum.PropertyLocation, enum.PropertyDescription,
	enum.PropertyProtocolVersion, enum.PropertyProtocolRevision, enum.PropertyProtocolServicesSupported,
	enum.PropertyProtocolObjectTypesSupported, enum.PropertyObjectList, enum.PropertyMaxAPDULengthAccepted,
	enum.PropertySegmentationSupported, enum.PropertyMaxSegmentsAccepted, enum.PropertyAPDUSegmentTimeout, enum.PropertyAPDUTimeout,
	enum.PropertyNumberOfAPDURetries, enum.PropertyDeviceAddressBinding, enum.PropertyDatabaseRevision, enum.PropertyLocalDate,
	enum.PropertyLocalTime, enum.PropertyUTCOffset, enum.PropertyDaylightSavingsStatus, enum.PropertyActiveCOVSubscriptions,
}

func (s *self) Properties() []enum.Property { return selfTable }

// revision is the protocol revision of ASHRAE 135-2012, of which everything required is here.
const revision = 14

// nonOperational is a value of BACnetDeviceStatus (clause 21).
const nonOperational = 4

func (s *self) Read(p enum.Property) (Value, error) {
	d := s.device
	switch p {
	case enum.PropertySystemStatus:
		if d.down.Load() {
			return Single(encoding.Enumerated(uint8(nonOperational))), nil
		}
		return Single(encoding.Enumerated(uint8(0))), nil // operational
	case enum.PropertyVendorName:
		return Single(encoding.Text("Voltbus")), nil
	case enum.PropertyFirmwareRevision, enum.PropertyApplicationSoftwareVersion:
		return Single(encoding.Text(d.config.Version)), nil
	case enum.PropertyVendorIdentifier:
		return Single(encoding.Unsigned(uint64(d.config.Vendor))), nil
	case enum.PropertyModelName:
		return Single(encoding.Text(d.config.Model)), nil
	case enum.PropertyLocation:
		return Single(encoding.Text(d.config.Location)), nil
	case enum.PropertyDescription:
		return Single(encoding.Text(d.config.Description)), nil
	case enum.PropertyObjectList:
		return d.objects.objectList(), nil
	case enum.PropertyActiveCOVSubscriptions:
		return Encoded(d.subs.active()), nil
	case enum.PropertyDeviceAddressBinding:
		return Encoded(nil), nil
	case enum.PropertyDatabaseRevision:
		return Single(encoding.Unsigned(d.objects.databaseRevision())), nil
	default:
		return s.protocol(p)
	}
}

// protocol returns what the device can do.
func (s *self) protocol(p enum.Property) (Value, error) {
	limits := &s.device.config.Client.Transaction
	switch p {
	case enum.PropertyProtocolVersion:
		return Single(encoding.Unsigned(1)), nil
	case enum.PropertyProtocolRevision:
		return Single(encoding.Unsigned(revision)), nil
	case enum.PropertyProtocolServicesSupported:
		return Single(encoding.BitStringValue(bits(40, 5, 12, 14, 15, 16, 33, 34, 35, 38))), nil
	case enum.PropertyProtocolObjectTypesSupported:
		return Single(encoding.BitStringValue(s.device.objects.types())), nil
	case enum.PropertyMaxAPDULengthAccepted:
		return Single(encoding.Unsigned(uint64(s.device.maxAPDU()))), nil
	case enum.PropertySegmentationSupported:
		return Single(encoding.Enumerated(service.SegmentedBoth)), nil
	case enum.PropertyMaxSegmentsAccepted:
		return Single(encoding.Unsigned(uint64(maxAnswer) / uint64(s.device.maxAPDU()))), nil
	case enum.PropertyAPDUSegmentTimeout:
		return milliseconds(limits.SegmentTimeout, 2*time.Second), nil
	case enum.PropertyAPDUTimeout:
		return milliseconds(limits.Timeout, 3*time.Second), nil
	case enum.PropertyNumberOfAPDURetries:
		return Single(encoding.Unsigned(3)), nil
	default:
		return clock(p, time.Now())
	}
}

func milliseconds(d, otherwise time.Duration) Value {
	if d <= 0 {
		d = otherwise
	}
	return Single(encoding.Unsigned(uint64(d / time.Millisecond)))
}

// clock returns the properties of the clock, which has the zone of the machine.
func clock(p enum.Property, now time.Time) (Value, error) {
	_, east := now.Zone()
	switch p {
	case enum.PropertyLocalDate:
		return Single(encoding.DateValue(encoding.DateOf(now))), nil
	case enum.PropertyLocalTime:
		return Single(encoding.TimeValue(encoding.TimeOf(now))), nil
	case enum.PropertyUTCOffset: // minutes to be added to local standard time (clause 12.11.25)
		if now.IsDST() {
			east -= 3600
		}
		return Single(encoding.Signed(int64(-east / 60))), nil
	case enum.PropertyDaylightSavingsStatus:
		return Single(encoding.Boolean(now.IsDST())), nil
	default:
		return Value{}, propertyError(enum.CodeUnknownProperty)
	}
}

// bits returns n bits of which some are set.
func bits(n int, set ...int) encoding.BitString {
	all := make([]bool, n)
	for _, i := range set {
		if i < n {
			all[i] = true
		}
	}
	return encoding.Bits(all...)
}

// Write refuses: the device object is read only.
func (s *self) Write(context.Context, Write) error {
	return propertyError(enum.CodeWriteAccessDenied)
}
