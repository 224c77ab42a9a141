package client_test

import (
	"net/netip"
	"sync"
	"testing"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// stubborn is a device that answers every ReadProperty with 7 and ReadPropertyMultiple as a test
// says, and counts both.
type stubborn struct {
	client  *client.Client
	many    func(r service.ReadMultipleRequest) transaction.Response
	mu      sync.Mutex
	singles int
	batches []int
}

func (s *stubborn) serve(i transaction.Indication[ip.Address]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i.Service == service.ReadPropertyMultiple {
		r, err := service.DecodeReadMultipleRequest(i.Payload)
		if err == nil {
			s.batches = append(s.batches, len(r))
			s.client.Respond(i, s.many(r))
		}
		return
	}
	s.singles++
	r, err := service.DecodeReadPropertyRequest(i.Payload)
	if err == nil {
		ack := service.ReadPropertyAck{ReadPropertyRequest: r, Value: encoding.Encode(encoding.Unsigned(7))}
		s.client.Respond(i, transaction.Response{Type: apdu.ComplexAck, Payload: ack.Append(nil)})
	}
}

func TestWhatADeviceCannotDoIsRemembered(t *testing.T) {
	abort := transaction.Response{Type: apdu.Abort, Reason: uint8(enum.AbortSegmentationNotSupported)}
	for name, tt := range map[string]struct {
		many            func(r service.ReadMultipleRequest) transaction.Response
		singles         int // of two reads of 16 objects
		batches, atMost int // requests for many, and the most objects of those in the second read
	}{
		"no ReadPropertyMultiple": {func(service.ReadMultipleRequest) transaction.Response {
			return transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectUnrecognizedService)}
		}, 32, 1, 0},
		"answers to something else": {func(service.ReadMultipleRequest) transaction.Response {
			return transaction.Response{Type: apdu.ComplexAck, Payload: service.ReadMultipleAck{{}}.Append(nil)}
		}, 32, 1, 0},
		"always too long": {func(service.ReadMultipleRequest) transaction.Response { return abort }, 32, 4, 0},
		"more than four are too long": {func(r service.ReadMultipleRequest) transaction.Response {
			if len(r) > 4 {
				return abort
			}
			var ack service.ReadMultipleAck
			for _, s := range r {
				ack = append(ack, service.ReadResult{Object: s.Object, Properties: []service.PropertyResult{
					{Property: s.Properties[0].Property, Value: encoding.Encode(encoding.Unsigned(7))},
				}})
			}
			return transaction.Response{Type: apdu.ComplexAck, Payload: ack.Append(nil)}
		}, 0, 10, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stubborn{many: tt.many}
			loopback := ip.Config{Listen: netip.MustParseAddrPort("127.0.0.1:0")}
			s.mu.Lock()
			s.client = openAt(t, client.Config{IP: loopback, Serve: s.serve})
			s.mu.Unlock()
			c := openAt(t, client.Config{IP: loopback})
			d := client.Device{Address: ip.Address{Link: s.client.Port().Address()}}
			for range 2 {
				var properties []client.Property
				for n := range uint32(16) {
					properties = append(properties, client.Property{Object: encoding.ObjectID{Instance: n}, Property: enum.PropertyPresentValue})
				}
				results, err := c.At(d).Read(t.Context(), properties)
				if err != nil {
					t.Fatal(err)
				}
				for i, r := range results {
					if v, err := r.Value.One(); err != nil || r.Err != nil || v != encoding.Unsigned(7) {
						t.Errorf("object %d is %v (%v, %v)", i, v, err, r.Err)
					}
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.singles != tt.singles || len(s.batches) != tt.batches {
				t.Errorf("asked %d times for one, and for %v at once", s.singles, s.batches)
			}
			if last := s.batches[len(s.batches)-1]; tt.atMost > 0 && last > tt.atMost {
				t.Errorf("asked for %v at once", s.batches)
			}
		})
	}
}

func openAt(t *testing.T, config client.Config) *client.Client {
	t.Helper()
	c, err := client.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
