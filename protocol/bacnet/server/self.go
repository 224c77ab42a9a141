package server

import (
	"time"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

// self is the device object (clause 12.11).
type self struct{ device *Device }

func (s *self) ID() encoding.ObjectID { return s.device.ID() }
func (s *self) Name() string          { return s.device.config.Name }

func (s *self) Properties() []enum.Property {
	return []enum.Property{
		enum.PropertySystemStatus, enum.PropertyVendorName, enum.PropertyVendorIdentifier, enum.PropertyModelName,
		enum.PropertyFirmwareRevision, enum.PropertyApplicationSoftwareVersion, enum.PropertyProtocolVersion,
		enum.PropertyProtocolRevision, enum.PropertyProtocolServicesSupported, enum.PropertyProtocolObjectTypesSupported,
		enum.PropertyObjectList, enum.PropertyMaxAPDULengthAccepted, enum.PropertySegmentationSupported,
		enum.PropertyAPDUTimeout, enum.PropertyNumberOfAPDURetries, enum.PropertyDeviceAddressBinding,
		enum.PropertyDatabaseRevision, enum.PropertyLocalDate, enum.PropertyLocalTime,
	}
}

// revision is the protocol revision of ASHRAE 135-2012, of which everything required is here.
const revision = 14

func (s *self) Read(p enum.Property) (Value, error) {
	switch p {
	case enum.PropertySystemStatus:
		return Single(encoding.Enumerated(uint8(0))), nil // operational
	case enum.PropertyVendorName, enum.PropertyFirmwareRevision, enum.PropertyApplicationSoftwareVersion:
		return Single(encoding.Text("Voltbus")), nil
	case enum.PropertyVendorIdentifier:
		return Single(encoding.Unsigned(uint64(s.device.config.Vendor))), nil
	case enum.PropertyModelName:
		return Single(encoding.Text(s.device.config.Model)), nil
	case enum.PropertyProtocolVersion:
		return Single(encoding.Unsigned(1)), nil
	case enum.PropertyProtocolRevision:
		return Single(encoding.Unsigned(revision)), nil
	case enum.PropertyProtocolServicesSupported:
		return Single(encoding.BitStringValue(bits(40, 5, 12, 14, 15, 16, 33, 34))), nil
	case enum.PropertyObjectList:
		return s.objects(), nil
	case enum.PropertyMaxAPDULengthAccepted:
		return Single(encoding.Unsigned(uint64(s.device.maxAPDU()))), nil
	case enum.PropertySegmentationSupported:
		return Single(encoding.Enumerated(service.SegmentedBoth)), nil
	default:
		return s.more(p)
	}
}

func (s *self) more(p enum.Property) (Value, error) {
	switch p {
	case enum.PropertyProtocolObjectTypesSupported:
		return Single(encoding.BitStringValue(s.types())), nil
	case enum.PropertyAPDUTimeout:
		return Single(encoding.Unsigned(3000)), nil
	case enum.PropertyNumberOfAPDURetries:
		return Single(encoding.Unsigned(3)), nil
	case enum.PropertyDeviceAddressBinding:
		return Value{}, nil
	case enum.PropertyDatabaseRevision:
		return Single(encoding.Unsigned(uint64(len(s.objects().Array)))), nil
	case enum.PropertyLocalDate:
		return Single(encoding.DateValue(encoding.DateOf(time.Now()))), nil
	case enum.PropertyLocalTime:
		return Single(encoding.TimeValue(encoding.TimeOf(time.Now()))), nil
	default:
		return Value{}, propertyError(enum.CodeUnknownProperty)
	}
}

func (s *self) objects() Value {
	s.device.mu.RLock()
	defer s.device.mu.RUnlock()
	list := make([]encoding.Value, 0, len(s.device.order))
	for _, id := range s.device.order {
		list = append(list, encoding.ObjectIDValue(id))
	}
	return List(list...)
}

func (s *self) types() encoding.BitString {
	s.device.mu.RLock()
	defer s.device.mu.RUnlock()
	var set []int
	for id := range s.device.objects {
		set = append(set, int(id.Type))
	}
	return bits(63, set...)
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
func (s *self) Write(service.PropertyWrite) error { return propertyError(enum.CodeWriteAccessDenied) }
