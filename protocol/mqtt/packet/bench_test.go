package packet

import (
	"bytes"
	"testing"

	paho "github.com/eclipse/paho.golang/packets"
)

// A PUBLISH with QoS 1 as a device sends it: a topic of 32 bytes, a user property, 200 bytes.
func benchPublish(b *testing.B) []byte {
	b.Helper()
	p := Publish{
		QoS: 1, ID: 77, Topic: []byte("fleet/thermostat-04711/telemetry"),
		Properties: Properties(nil).WithText(ContentType, "application/json").WithUser("unit", "kelvin"),
		Payload:    bytes.Repeat([]byte("x"), 200),
	}
	wire, err := p.Append(nil, V5)
	if err != nil {
		b.Fatal(err)
	}
	return wire
}

func BenchmarkDecodePublish(b *testing.B) {
	wire := benchPublish(b)
	b.Run("here", func(b *testing.B) {
		d := Decoder{Version: V5, Limits: Limits{Levels: 128, UserProperties: 64}}
		b.ReportAllocs()
		for b.Loop() {
			f, _, err := Split(wire, 1<<20)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := d.Publish(f); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("paho.golang", func(b *testing.B) {
		r := bytes.NewReader(wire)
		b.ReportAllocs()
		for b.Loop() {
			r.Reset(wire)
			if _, err := paho.ReadPacket(r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncodePublish(b *testing.B) {
	wire := benchPublish(b)
	b.Run("here", func(b *testing.B) {
		f, _, _ := Split(wire, 0)
		p, err := (&Decoder{Version: V5}).Publish(f)
		if err != nil {
			b.Fatal(err)
		}
		var out []byte
		b.ReportAllocs()
		for b.Loop() {
			if out, err = p.Append(out[:0], V5); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("paho.golang", func(b *testing.B) {
		p, err := paho.ReadPacket(bytes.NewReader(wire))
		if err != nil {
			b.Fatal(err)
		}
		var out bytes.Buffer
		b.ReportAllocs()
		for b.Loop() {
			out.Reset()
			if _, err := p.WriteTo(&out); err != nil {
				b.Fatal(err)
			}
		}
	})
}
