package server

import (
	"errors"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

var (
	errService = errors.New("unknown service")
	errRequest = errors.New("malformed request")
)

// carryOut returns the parameters of the answer, nil for a simple acknowledgement.
func (d *Device) carryOut(i transaction.Indication[ip.Address]) ([]byte, error) {
	switch i.Service {
	case service.ReadProperty:
		r, err := service.DecodeReadPropertyRequest(i.Payload)
		if err != nil {
			return nil, errRequest
		}
		return d.readProperty(r)
	case service.ReadPropertyMultiple:
		r, err := service.DecodeReadMultipleRequest(i.Payload)
		if err != nil {
			return nil, errRequest
		}
		return d.readMultiple(r).Append([]byte{}), nil
	case service.WriteProperty:
		r, err := service.DecodeWritePropertyRequest(i.Payload)
		if err != nil {
			return nil, errRequest
		}
		return nil, d.write(r.Object, service.PropertyWrite{Property: r.Property, Index: r.Index, Value: r.Value, Priority: r.Priority})
	case service.WritePropertyMultiple:
		r, err := service.DecodeWriteMultipleRequest(i.Payload)
		if err != nil {
			return nil, errRequest
		}
		return nil, d.writeMultiple(r)
	case service.SubscribeCOV:
		r, err := service.DecodeSubscribeRequest(i.Payload)
		if err != nil {
			return nil, errRequest
		}
		return nil, d.subscribe(i.Peer, i.Limits, r)
	default:
		return nil, errService
	}
}

func (d *Device) readProperty(r service.ReadPropertyRequest) ([]byte, error) {
	o, err := d.object(r.Object)
	if err != nil {
		return nil, err
	}
	value, err := d.read(o, r.Property, r.Index)
	if err != nil {
		return nil, err
	}
	r.Object = o.ID()
	return service.ReadPropertyAck{ReadPropertyRequest: r, Value: value}.Append(nil), nil
}

// read returns a property of an object, with those that every object has.
func (d *Device) read(o Object, p enum.Property, index constructed.Index) (encoding.Any, error) {
	var v Value
	var err error
	switch p {
	case enum.PropertyObjectIdentifier:
		v = Single(encoding.ObjectIDValue(o.ID()))
	case enum.PropertyObjectName:
		v = Single(encoding.Text(o.Name()))
	case enum.PropertyObjectType:
		v = Single(encoding.Enumerated(o.ID().Type))
	case enum.PropertyPropertyList:
		var list []encoding.Value
		for _, p := range o.Properties() {
			list = append(list, encoding.Enumerated(p))
		}
		v = List(list...)
	default:
		v, err = o.Read(p)
	}
	if err != nil {
		return nil, err
	}
	return v.at(index)
}

func (d *Device) readMultiple(r service.ReadMultipleRequest) service.ReadMultipleAck {
	ack := make(service.ReadMultipleAck, 0, len(r))
	for _, s := range r {
		result := service.ReadResult{Object: s.Object}
		o, err := d.object(s.Object)
		if err == nil {
			result.Object = o.ID()
		}
		for _, ref := range expand(o, s.Properties) {
			p := service.PropertyResult{Property: ref.Property, Index: ref.Index}
			failed := err
			if failed == nil {
				p.Value, failed = d.read(o, ref.Property, ref.Index)
			}
			if failed != nil {
				e := service.Error{Class: enum.ClassDevice, Code: enum.CodeOperationalProblem}
				_ = errors.As(failed, &e)
				p.Error = &e
			}
			result.Properties = append(result.Properties, p)
		}
		ack = append(ack, result)
	}
	return ack
}

// expand replaces the groups all, required and optional. Which properties are required depends on
// the type; here those of the object count as required, and none as optional.
func expand(o Object, refs []constructed.PropertyReference) []constructed.PropertyReference {
	var all []constructed.PropertyReference
	for _, ref := range refs {
		switch {
		case o != nil && (ref.Property == enum.PropertyAll || ref.Property == enum.PropertyRequired):
			for _, p := range append([]enum.Property{enum.PropertyObjectIdentifier, enum.PropertyObjectName, enum.PropertyObjectType}, o.Properties()...) {
				all = append(all, constructed.PropertyReference{Property: p})
			}
		case o != nil && ref.Property == enum.PropertyOptional:
		default:
			all = append(all, ref)
		}
	}
	return all
}

func (d *Device) write(id encoding.ObjectID, w service.PropertyWrite) error {
	o, err := d.object(id)
	if err != nil {
		return err
	}
	switch w.Property {
	case enum.PropertyObjectIdentifier, enum.PropertyObjectName, enum.PropertyObjectType, enum.PropertyPropertyList:
		return propertyError(enum.CodeWriteAccessDenied)
	default:
		return o.Write(w)
	}
}

func (d *Device) writeMultiple(r service.WriteMultipleRequest) error {
	for _, s := range r {
		for _, w := range s.Properties {
			if err := d.write(s.Object, w); err != nil {
				e := service.Error{Class: enum.ClassDevice, Code: enum.CodeOperationalProblem}
				_ = errors.As(err, &e)
				return service.WriteMultipleError{Cause: e, First: constructed.ObjectPropertyReference{
					Object: s.Object, Property: w.Property, Index: w.Index,
				}}
			}
		}
	}
	return nil
}
