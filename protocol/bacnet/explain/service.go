package explain

import (
	"fmt"
	"strings"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

// property names a property of an object.
func property(o encoding.ObjectID, p enum.Property, i constructed.Index) string {
	return fmt.Sprintf("%v %v", o, constructed.PropertyReference{Property: p, Index: i})
}

// value says what the value of a property is.
func value(p enum.Property, data encoding.Any) string {
	values, err := data.Values()
	if err != nil {
		return fmt.Sprintf("%X (%v)", []byte(data), err)
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.Kind().String() + " " + v.String()
		if p == enum.PropertyUnits && v.Kind() == encoding.KindEnumerated {
			texts[i] = enum.Unit(v.Uint()).String()
		}
	}
	return strings.Join(texts, ", ")
}

func (w *writer) request(depth int, which service.Confirmed, data []byte, cut bool) {
	if cut {
		w.say(depth, "%d bytes of a longer message", len(data))
		return
	}
	switch which {
	case service.ReadProperty:
		if r, err := service.DecodeReadPropertyRequest(data); err == nil {
			w.say(depth, "%s", property(r.Object, r.Property, r.Index))
			return
		}
	case service.WriteProperty:
		if r, err := service.DecodeWritePropertyRequest(data); err == nil {
			w.say(depth, "%s = %s%s", property(r.Object, r.Property, r.Index), value(r.Property, r.Value), priority(r.Priority))
			return
		}
	case service.ReadPropertyMultiple:
		if r, err := service.DecodeReadMultipleRequest(data); err == nil {
			for _, s := range r {
				for _, p := range s.Properties {
					w.say(depth, "%s", property(s.Object, p.Property, p.Index))
				}
			}
			return
		}
	case service.SubscribeCOV, service.SubscribeCOVProperty:
		if r, err := service.DecodeSubscribeRequest(data); err == nil {
			w.say(depth, "process %d, %v, cancel %t, confirmed %t, lifetime %d s", r.Process, r.Object, r.Cancel, r.Confirmed, r.Lifetime)
			return
		}
	case service.ConfirmedCOVNotification:
		w.notification(depth, data)
		return
	default:
	}
	w.tags(depth, data)
}

func priority(p uint8) string {
	if p == 0 {
		return ""
	}
	return fmt.Sprintf(", priority %d", p)
}

func (w *writer) answer(depth int, which service.Confirmed, data []byte, cut bool) {
	if cut {
		w.say(depth, "%d bytes of a longer message", len(data))
		return
	}
	switch which {
	case service.ReadProperty:
		if a, err := service.DecodeReadPropertyAck(data); err == nil {
			w.say(depth, "%s = %s", property(a.Object, a.Property, a.Index), value(a.Property, a.Value))
			return
		}
	case service.ReadPropertyMultiple:
		if a, err := service.DecodeReadMultipleAck(data); err == nil {
			for _, r := range a {
				for _, p := range r.Properties {
					if p.Error != nil {
						w.say(depth, "%s: %v (%v)", property(r.Object, p.Property, p.Index), p.Error.Code, p.Error.Class)
						continue
					}
					w.say(depth, "%s = %s", property(r.Object, p.Property, p.Index), value(p.Property, p.Value))
				}
			}
			return
		}
	default:
	}
	w.tags(depth, data)
}

func (w *writer) unconfirmed(depth int, which service.Unconfirmed, data []byte) {
	switch which {
	case service.WhoIs:
		if r, err := service.DecodeWhoIs(data); err == nil {
			if r.Limited {
				w.say(depth, "devices %d to %d", r.Low, r.High)
			} else {
				w.say(depth, "all devices")
			}
			return
		}
	case service.IAm:
		if a, err := service.DecodeAnnouncement(data); err == nil {
			w.say(depth, "%v, at most %d bytes, %v, vendor %d", a.Device, a.MaxAPDU, a.Segmentation, a.Vendor)
			return
		}
	case service.IHave:
		if a, err := service.DecodeObjectAnnouncement(data); err == nil {
			w.say(depth, "%v has %v %q", a.Device, a.Object, a.Name)
			return
		}
	case service.UnconfirmedCOVNotification:
		w.notification(depth, data)
		return
	default:
	}
	w.tags(depth, data)
}

func (w *writer) notification(depth int, data []byte) {
	n, err := service.DecodeNotification(data)
	if err != nil {
		w.tags(depth, data)
		return
	}
	w.say(depth, "process %d, %v of %v, %d s left", n.Process, n.Object, n.Device, n.Left)
	for _, v := range n.Values {
		w.say(depth+1, "%v = %s", constructed.PropertyReference{Property: v.Property, Index: v.Index}, value(v.Property, v.Value))
	}
}
