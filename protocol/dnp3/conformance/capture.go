package conformance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Moment is something that happened on a recorded TCP connection.
type Moment struct {
	// At is when, since the start of the recording.
	At time.Duration
	// Master says which side did it.
	Master bool
	// Opens and Closes say that it opened or closed the connection.
	Opens, Closes bool
	// Octets is what it sent.
	Octets []byte
}

// timeUnit corrects the recorded times: the tool that wrote the captures took milliseconds
// for microseconds.
const timeUnit = 1000

// Sizes and codes of the capture format (libpcap 2.4, BSD loopback, IPv4, TCP).
const (
	fileHead   = 24
	recordHead = 16
	magic      = 0xA1B2C3D4
	familySize = 4
	ipHead     = 20
	tcpHead    = 20
	protocol   = 6
	flagFIN    = 0x01
	flagSYN    = 0x02
	flagRST    = 0x04
	flagACK    = 0x10
)

var errCapture = errors.New("no capture of a TCP connection over loopback")

// ParseCapture reads a capture in which the outstation listens on a port.
func ParseCapture(p []byte, port uint16) ([]Moment, error) {
	if len(p) < fileHead || binary.LittleEndian.Uint32(p) != magic || binary.LittleEndian.Uint32(p[20:]) != 0 {
		return nil, errCapture
	}
	p = p[fileHead:]
	var all []Moment
	var start time.Duration
	for n := 0; len(p) > 0; n++ {
		if len(p) < recordHead {
			return nil, fmt.Errorf("packet %d: %w", n, errCapture)
		}
		at := time.Duration(binary.LittleEndian.Uint32(p))*time.Second + time.Duration(binary.LittleEndian.Uint32(p[4:]))*time.Microsecond
		size := binary.LittleEndian.Uint32(p[8:])
		if p = p[recordHead:]; uint64(size) > uint64(len(p)) {
			return nil, fmt.Errorf("packet %d: %w", n, errCapture)
		}
		if n == 0 {
			start = at
		}
		if m, ok := parsePacket(p[:size], port); ok {
			m.At = (at - start) * timeUnit
			all = append(all, m)
		}
		p = p[size:]
	}
	return all, nil
}

// parsePacket reads a packet; ok is false if nothing happens by it.
func parsePacket(p []byte, port uint16) (m Moment, ok bool) {
	if len(p) < familySize+ipHead || p[familySize]>>4 != 4 || p[familySize+9] != protocol {
		return Moment{}, false
	}
	ip := p[familySize:]
	total, head := int(binary.BigEndian.Uint16(ip[2:])), int(ip[0]&0x0F)*4
	if head < ipHead || total > len(ip) || total < head+tcpHead {
		return Moment{}, false
	}
	tcp := ip[head:total]
	offset := int(tcp[12]>>4) * 4
	if offset < tcpHead || offset > len(tcp) {
		return Moment{}, false
	}
	flags := tcp[13]
	m = Moment{
		Master: binary.BigEndian.Uint16(tcp[2:]) == port,
		Opens:  flags&(flagSYN|flagACK) == flagSYN,
		Closes: flags&(flagFIN|flagRST) != 0,
		Octets: tcp[offset:],
	}
	return m, m.Opens || m.Closes || len(m.Octets) > 0
}
