package server

import (
	"context"
	"errors"

	"voltbus/protocol/bacnet/apdu"
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
	errTooLong = errors.New("the answer is too long")
)

// maxAnswer bounds an answer in bytes: a short request may ask for a long one.
const maxAnswer = 256 << 10

// serve answers a confirmed service: at once, or beside others if it may have to wait.
func (d *Device) serve(ctx context.Context, i transaction.Indication[ip.Address]) {
	if !waits(i.Service) {
		d.reads.Add(1)
		answer, err := d.answer(&i)
		d.respond(&i, answer, err)
		return
	}
	d.waiting.Go(func() {
		select {
		case d.places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-d.places }()
		answer, err := d.carryOut(ctx, &i)
		d.respond(&i, answer, err)
	})
}

// waits reports whether a service is carried out beside others.
func waits(s service.Confirmed) bool {
	return s == service.WriteProperty || s == service.WritePropertyMultiple || s == service.ReadRange
}

// answer returns the parameters of the answer to what never waits, nil for a simple acknowledgement.
func (d *Device) answer(i *transaction.Indication[ip.Address]) ([]byte, error) {
	switch i.Service {
	case service.ReadProperty:
		r, err := service.DecodeReadPropertyRequest(i.Payload)
		if err != nil {
			return nil, errRequest
		}
		return d.readProperty(r)
	case service.ReadPropertyMultiple:
		return d.readMultiple(i.Payload)
	case service.SubscribeCOV, service.SubscribeCOVProperty:
		r, err := subscribeRequest(i)
		if err != nil {
			return nil, err
		}
		return nil, d.subscribe(i, r)
	default:
		return nil, errService
	}
}

// carryOut is answer for what may wait.
func (d *Device) carryOut(ctx context.Context, i *transaction.Indication[ip.Address]) ([]byte, error) {
	switch i.Service {
	case service.ReadRange:
		d.reads.Add(1)
		r, err := service.DecodeReadRangeRequest(i.Payload)
		if err != nil {
			return nil, errRequest
		}
		return d.readRange(ctx, i.Limits, r)
	case service.WriteProperty:
		d.writes.Add(1)
		r, err := service.DecodeWritePropertyRequest(i.Payload)
		if err != nil {
			return nil, errRequest
		}
		return nil, d.write(ctx, r.Object, Write{From: i.Peer, PropertyWrite: service.PropertyWrite{
			Property: r.Property, Index: r.Index, Value: r.Value, Priority: r.Priority,
		}})
	default:
		d.writes.Add(1)
		r, err := service.DecodeWriteMultipleRequest(i.Payload)
		if err != nil {
			return nil, errRequest
		}
		return nil, d.writeMultiple(ctx, i.Peer, r)
	}
}

// respond sends an answer.
func (d *Device) respond(i *transaction.Indication[ip.Address], answer []byte, err error) {
	if err != nil {
		d.refused.Add(1)
	}
	r := responseOf(answer, err)
	d.opening.RLock()
	c := d.client
	d.opening.RUnlock()
	c.Respond(*i, r)
	if (i.Service == service.SubscribeCOV || i.Service == service.SubscribeCOVProperty) && err == nil {
		d.greet(i)
	}
}

func responseOf(answer []byte, err error) transaction.Response {
	var refused service.Error
	var multiple service.WriteMultipleError
	switch {
	case err == nil && answer == nil:
		return transaction.Response{Type: apdu.SimpleAck}
	case err == nil:
		return transaction.Response{Type: apdu.ComplexAck, Payload: answer}
	case errors.Is(err, errService):
		return transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectUnrecognizedService)}
	case errors.Is(err, errRequest):
		return transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectInvalidTag)}
	case errors.Is(err, errTooLong):
		return transaction.Response{Type: apdu.Abort, Reason: uint8(enum.AbortBufferOverflow)}
	case errors.As(err, &multiple):
		return transaction.Response{Type: apdu.Error, Payload: multiple.Append(nil)}
	case errors.As(err, &refused):
		return transaction.Response{Type: apdu.Error, Payload: refused.Append(nil)}
	}
	return transaction.Response{Type: apdu.Error, Payload: problem(err).Append(nil)}
}

// problem returns the error that the client is told.
func problem(err error) service.Error {
	e := service.Error{Class: enum.ClassDevice, Code: enum.CodeOperationalProblem}
	_ = errors.As(err, &e)
	return e
}

// subscribeRequest reads a request to subscribe to an object or to a property.
func subscribeRequest(i *transaction.Indication[ip.Address]) (service.SubscribeRequest, error) {
	r, err := service.DecodeSubscribeRequest(i.Payload)
	if err != nil || (r.Property != nil) != (i.Service == service.SubscribeCOVProperty) {
		return r, errRequest
	}
	return r, nil
}

// subscribe makes, renews or cancels a subscription.
func (d *Device) subscribe(i *transaction.Indication[ip.Address], r service.SubscribeRequest) error {
	o, err := d.objects.get(r.Object)
	if err != nil {
		return err
	}
	if _, ok := o.(Watched); !ok {
		return service.Error{Class: enum.ClassObject, Code: enum.CodeOptionalFunctionalityNotSupported}
	}
	if r.Property != nil {
		if _, err := appendProperty(nil, o, r.Property.Property, r.Property.Index); err != nil {
			return err
		}
	}
	return d.subs.request(i.Peer, i.Limits, r)
}

// greet tells a new subscriber the present state.
func (d *Device) greet(i *transaction.Indication[ip.Address]) {
	r, err := subscribeRequest(i)
	if err != nil || r.Cancel {
		return
	}
	if o, ok := d.objects.find(service.ObjectQuery{Object: r.Object}).(Watched); ok {
		d.subs.greet(subscriberOf(i.Peer, r), o)
	}
}

func (d *Device) readProperty(r service.ReadPropertyRequest) ([]byte, error) {
	o, err := d.objects.get(r.Object)
	if err != nil {
		return nil, err
	}
	r.Object = o.ID()
	b := make([]byte, 0, 64)
	return r.AppendAck(b, func(b []byte) ([]byte, error) { return appendProperty(b, o, r.Property, r.Index) })
}

// appendProperty writes a property of an object, with those that every object has.
func appendProperty(b []byte, o Object, p enum.Property, index constructed.Index) ([]byte, error) {
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
		list := make([]encoding.Value, 0, len(o.Properties()))
		for _, p := range o.Properties() {
			list = append(list, encoding.Enumerated(p))
		}
		v = List(list...)
	default:
		if v, err = o.Read(p); err != nil {
			return nil, err
		}
	}
	return v.appendTo(b, index)
}

// readMultiple answers while it reads the request.
func (d *Device) readMultiple(payload []byte) ([]byte, error) {
	answer := service.NewMultipleAnswer(make([]byte, 0, 1536))
	var o Object
	var unknown error
	err := service.EachRead(payload, func(id encoding.ObjectID) error {
		if o, unknown = d.objects.get(id); unknown == nil {
			id = o.ID()
		}
		answer.Object(id)
		return nil
	}, func(ref constructed.PropertyReference) error {
		answerReference(answer, o, unknown, ref)
		if answer.Len() > maxAnswer {
			return errTooLong
		}
		return nil
	})
	switch {
	case errors.Is(err, errTooLong):
		return nil, err
	case err != nil:
		return nil, errRequest
	}
	return answer.Bytes(), nil
}

// answerReference answers for a property, or a group of them (clause 15.7.3.1.2).
func answerReference(answer *service.MultipleAnswer, o Object, unknown error, ref constructed.PropertyReference) {
	one := func(ref constructed.PropertyReference) {
		answer.Property(ref, func(b []byte) ([]byte, error) {
			if unknown != nil {
				return nil, unknown
			}
			return appendProperty(b, o, ref.Property, ref.Index)
		}, problem)
	}
	group := ref.Property == enum.PropertyAll || ref.Property == enum.PropertyRequired || ref.Property == enum.PropertyOptional
	if !group || unknown != nil {
		one(ref)
		return
	}
	if ref.Property != enum.PropertyOptional {
		for _, p := range [...]enum.Property{enum.PropertyObjectIdentifier, enum.PropertyObjectName, enum.PropertyObjectType} {
			one(constructed.PropertyReference{Property: p})
		}
	}
	kind := o.ID().Type
	for _, p := range o.Properties() {
		if ref.Property == enum.PropertyAll || (ref.Property == enum.PropertyRequired) == required(kind, p) {
			one(constructed.PropertyReference{Property: p})
		}
	}
}

// readRange reads a part of a list that takes no more than the client takes.
func (d *Device) readRange(ctx context.Context, limits transaction.Limits, r service.ReadRangeRequest) ([]byte, error) {
	o, err := d.objects.get(r.Object)
	if err != nil {
		return nil, err
	}
	list, ok := o.(Ranged)
	if !ok {
		return nil, propertyError(enum.CodePropertyIsNotAList)
	}
	const head = 40 // of the APDU and the parameters beside the items
	room := limits.MaxAPDU
	if limits.Segments {
		room = maxAnswer
		if limits.MaxSegments > 0 {
			room = min(room, limits.MaxAPDU*limits.MaxSegments*9/10)
		}
	}
	ack, err := list.ReadRange(ctx, r, room-head)
	if err != nil {
		return nil, err
	}
	return ack.Append([]byte{}), nil
}

func (d *Device) write(ctx context.Context, id encoding.ObjectID, w Write) error {
	o, err := d.objects.get(id)
	if err != nil {
		return err
	}
	switch w.Property {
	case enum.PropertyObjectIdentifier, enum.PropertyObjectName, enum.PropertyObjectType, enum.PropertyPropertyList:
		return propertyError(enum.CodeWriteAccessDenied)
	default:
		return o.Write(ctx, w)
	}
}

func (d *Device) writeMultiple(ctx context.Context, from ip.Address, r service.WriteMultipleRequest) error {
	for _, s := range r {
		for _, w := range s.Properties {
			if err := d.write(ctx, s.Object, Write{PropertyWrite: w, From: from}); err != nil {
				return service.WriteMultipleError{Cause: problem(err), First: constructed.ObjectPropertyReference{
					Object: s.Object, Property: w.Property, Index: w.Index,
				}}
			}
		}
	}
	return nil
}
