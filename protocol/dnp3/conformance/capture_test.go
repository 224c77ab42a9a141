package conformance

import (
	"encoding/binary"
	"testing"
)

// packet returns a capture of one packet from the master.
func packet(payload []byte) []byte {
	p := binary.LittleEndian.AppendUint32(nil, magic)
	p = append(p, make([]byte, fileHead-4)...)
	size := familySize + ipHead + tcpHead + len(payload)
	p = binary.LittleEndian.AppendUint32(p, 5)
	p = binary.LittleEndian.AppendUint32(p, 0)
	p = binary.LittleEndian.AppendUint32(p, uint32(size))
	p = binary.LittleEndian.AppendUint32(p, uint32(size))
	p = append(p, 2, 0, 0, 0, 0x45, 0)
	p = binary.BigEndian.AppendUint16(p, uint16(size-familySize))
	p = append(p, 0, 0, 0, 0, 64, protocol)
	p = append(p, make([]byte, 10)...)
	p = append(p, 0x06, 0x5A, 0x4E, 0x20)
	p = append(p, make([]byte, 8)...)
	p = append(p, 5<<4, flagACK)
	p = append(p, make([]byte, 6)...)
	return append(p, payload...)
}

func TestACaptureGivesWhatWasSent(t *testing.T) {
	moments, err := ParseCapture(packet([]byte("octets")), 20000)
	if err != nil || len(moments) != 1 || !moments[0].Master || string(moments[0].Octets) != "octets" {
		t.Errorf("%+v, %v", moments, err)
	}
}

func FuzzCapture(f *testing.F) {
	f.Add(packet([]byte("octets")))
	f.Add([]byte("no capture"))
	f.Fuzz(func(t *testing.T, p []byte) {
		moments, _ := ParseCapture(p, 20000)
		total := 0
		for _, m := range moments {
			total += len(m.Octets)
		}
		if total > len(p) {
			t.Fatalf("%d octets out of %d", total, len(p))
		}
	})
}
