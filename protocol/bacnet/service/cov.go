package service

import (
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
)

// SubscribeRequest asks for notifications of changes of an object (SubscribeCOV, clause 13.14),
// or of a property when Property is set (SubscribeCOVProperty, clause 13.15).
type SubscribeRequest struct {
	Process   uint32 // chosen by the subscriber, comes back in each notification
	Object    encoding.ObjectID
	Cancel    bool
	Confirmed bool
	Lifetime  uint32 // seconds; 0: without an end, which devices may refuse
	Property  *constructed.PropertyReference
	Increment encoding.Value // real; null: the object's own
}

// Append writes the request.
func (r SubscribeRequest) Append(b []byte) []byte {
	b = encoding.AppendObjectID(encoding.AppendUnsigned(b, 0, uint64(r.Process)), 1, r.Object)
	if !r.Cancel {
		b = encoding.AppendUnsigned(encoding.AppendBoolean(b, 2, r.Confirmed), 3, uint64(r.Lifetime))
	}
	if r.Property == nil {
		return b
	}
	b = encoding.AppendClosing(r.Property.Append(encoding.AppendOpening(b, 4)), 4)
	if r.Increment.Kind() == encoding.KindReal {
		b = r.Increment.Append(b, 5)
	}
	return b
}

// DecodeSubscribeRequest reads the request; both services.
func DecodeSubscribeRequest(p []byte) (SubscribeRequest, error) {
	d := encoding.NewDecoder(p)
	r := SubscribeRequest{Process: d.Uint32(0), Object: d.ObjectID(1)}
	r.Cancel = !d.Has(2) && !d.Has(3)
	if d.Has(2) {
		r.Confirmed = d.Boolean(2)
	}
	if d.Has(3) {
		r.Lifetime = d.Uint32(3)
	}
	if d.HasOpening(4) {
		d.Opening(4)
		ref := constructed.ReadPropertyReference(d)
		r.Property = &ref
		d.Closing(4)
	}
	if d.Has(5) {
		r.Increment = encoding.Real(d.Real(5))
	}
	return r, d.End()
}

// Notification tells of a change (ConfirmedCOVNotification and UnconfirmedCOVNotification, clauses
// 13.6 and 13.7).
type Notification struct {
	Process uint32
	Device  encoding.ObjectID
	Object  encoding.ObjectID
	Left    uint32 // seconds until the subscription ends; 0: without an end
	Values  []PropertyWrite
}

// Append writes the notification.
func (n Notification) Append(b []byte) []byte {
	b = encoding.AppendObjectID(encoding.AppendUnsigned(b, 0, uint64(n.Process)), 1, n.Device)
	b = encoding.AppendUnsigned(encoding.AppendObjectID(b, 2, n.Object), 3, uint64(n.Left))
	b = encoding.AppendOpening(b, 4)
	for _, v := range n.Values {
		b = v.Append(b)
	}
	return encoding.AppendClosing(b, 4)
}

// DecodeNotification reads the notification.
func DecodeNotification(p []byte) (Notification, error) {
	d := encoding.NewDecoder(p)
	n := Notification{Process: d.Uint32(0), Device: d.ObjectID(1), Object: d.ObjectID(2), Left: d.Uint32(3)}
	d.Opening(4)
	for d.More() {
		n.Values = append(n.Values, readPropertyWrite(d))
	}
	d.Closing(4)
	return n, d.End()
}
