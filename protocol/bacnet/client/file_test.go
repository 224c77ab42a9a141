package client_test

import (
	"bytes"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

func TestAFileIsReadInParts(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 321)
	loopback := ip.Config{Listen: netip.MustParseAddrPort("127.0.0.1:0")}
	var device *client.Client
	var stands atomic.Bool
	ready := make(chan struct{})
	device = openAt(t, client.Config{IP: loopback, Serve: func(i transaction.Indication[ip.Address]) {
		<-ready
		r, err := service.DecodeReadFileRequest(i.Payload)
		if err != nil || i.Service != service.AtomicReadFile {
			t.Errorf("asked for %v: %v", i.Service, err)
		}
		at := min(int(r.Start), len(content))
		end := min(at+int(r.Count), len(content))
		ack := service.ReadFileAck{End: end == len(content) && !stands.Load(), Start: r.Start, Data: [][]byte{content[at:end]}}
		device.Respond(i, transaction.Response{Type: apdu.ComplexAck, Payload: ack.Append(nil)})
	}})
	close(ready)
	c := openAt(t, client.Config{IP: loopback})
	file := encoding.ObjectID{Type: enum.File, Instance: 1}
	for _, most := range []int{0, 50, 480, 1476} {
		d := c.At(client.Device{Address: ip.Address{Link: device.Port().Address()}, MaxAPDU: most})
		if got, err := d.ReadFile(t.Context(), file, 10_000); err != nil || !bytes.Equal(got, content) {
			t.Errorf("with APDUs of %d octets: %d octets, %v", most, len(got), err)
		}
	}
	d := c.At(client.Device{Address: ip.Address{Link: device.Port().Address()}})
	if _, err := d.ReadFile(t.Context(), file, 1000); !errors.Is(err, client.ErrFileTooLong) {
		t.Errorf("a file that is too long: %v", err)
	}
	stands.Store(true)
	if _, err := d.ReadFile(t.Context(), file, 10_000); err == nil {
		t.Error("a file without an end is read for ever")
	}
}
