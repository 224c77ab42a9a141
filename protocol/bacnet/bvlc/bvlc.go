// Package bvlc reads and writes the BACnet virtual link control of BACnet/IP (ASHRAE 135
// annex J): the header of each UDP datagram, broadcast distribution and foreign devices.
//
//	0x81 | function | length of the whole (2 octets) | data
//
// [Parse] and the functions named Append… are a pure codec. [Registration] keeps a foreign
// device registered; it is told the time and what arrived, and has no socket.
package bvlc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// Port is the UDP port of BACnet/IP, 0xBAC0.
const Port = 47808

// MaxDatagram is the longest datagram of BACnet/IP: an NPDU of 1497 octets and the longest
// header before it.
const MaxDatagram = 1497 + forwardedHeader

const (
	version         = 0x81
	header          = 4
	address         = 6
	forwardedHeader = header + address
	bdtEntry        = address + 4
	fdtEntry        = address + 4
)

// Function says what a datagram is for (J.2).
type Function uint8

// The functions of annex J.
const (
	Result Function = iota
	WriteBroadcastTable
	ReadBroadcastTable
	ReadBroadcastTableAck
	ForwardedNPDU
	RegisterForeignDevice
	ReadForeignTable
	ReadForeignTableAck
	DeleteForeignEntry
	DistributeBroadcast
	OriginalUnicast
	OriginalBroadcast
	SecureBVLL
)

// ResultCode is the answer of a BBMD (J.2.1).
type ResultCode uint16

// The results of annex J; everything but Success is a refusal.
const (
	Success                   ResultCode = 0x0000
	WriteBroadcastTableRefuse ResultCode = 0x0010
	ReadBroadcastTableRefuse  ResultCode = 0x0020
	RegisterRefuse            ResultCode = 0x0030
	ReadForeignTableRefuse    ResultCode = 0x0040
	DeleteForeignEntryRefuse  ResultCode = 0x0050
	DistributeRefuse          ResultCode = 0x0060
)

// String says in words what the result is.
func (c ResultCode) String() string {
	switch c {
	case Success:
		return "success"
	case WriteBroadcastTableRefuse:
		return "write of the broadcast distribution table refused"
	case ReadBroadcastTableRefuse:
		return "read of the broadcast distribution table refused"
	case RegisterRefuse:
		return "registration as a foreign device refused"
	case ReadForeignTableRefuse:
		return "read of the foreign device table refused"
	case DeleteForeignEntryRefuse:
		return "deletion of a foreign device refused"
	case DistributeRefuse:
		return "distribution of a broadcast refused"
	}
	return fmt.Sprintf("result %#04x", uint16(c))
}

// Errors of a datagram.
var (
	ErrVersion   = errors.New("no BACnet/IP datagram: it does not begin with 81")
	ErrLength    = errors.New("the length in the header is not that of the datagram")
	ErrTruncated = errors.New("the datagram ends too early")
	ErrFunction  = errors.New("unknown BVLC function")
)

// Message is a datagram. Which fields mean something depends on the function.
type Message struct {
	Function Function
	NPDU     []byte         // of ForwardedNPDU, DistributeBroadcast, OriginalUnicast and OriginalBroadcast
	Source   netip.AddrPort // who sent a forwarded NPDU; the entry that is to be deleted
	Result   ResultCode
	TTL      uint16 // seconds, of RegisterForeignDevice
	Data     []byte // entries of a table, or what SecureBVLL carries
}

// Parse reads a datagram. What it returns refers to the datagram.
func Parse(p []byte) (Message, error) {
	if len(p) < header {
		return Message{}, ErrTruncated
	}
	if p[0] != version {
		return Message{}, ErrVersion
	}
	if int(binary.BigEndian.Uint16(p[2:])) != len(p) {
		return Message{}, fmt.Errorf("%w: %d instead of %d", ErrLength, binary.BigEndian.Uint16(p[2:]), len(p))
	}
	m := Message{Function: Function(p[1])}
	return m, m.parse(p[header:])
}

func (m *Message) parse(p []byte) error {
	need := 0
	switch m.Function {
	case OriginalUnicast, OriginalBroadcast, DistributeBroadcast:
		m.NPDU = p
	case ForwardedNPDU:
		if need = address; len(p) >= need {
			m.Source, m.NPDU = readAddress(p), p[address:]
		}
	case Result:
		if need = 2; len(p) >= need {
			m.Result = ResultCode(binary.BigEndian.Uint16(p))
		}
	case RegisterForeignDevice:
		if need = 2; len(p) >= need {
			m.TTL = binary.BigEndian.Uint16(p)
		}
	case DeleteForeignEntry:
		if need = address; len(p) >= need {
			m.Source = readAddress(p)
		}
	case WriteBroadcastTable, ReadBroadcastTableAck, ReadForeignTableAck, SecureBVLL:
		m.Data = p
	case ReadBroadcastTable, ReadForeignTable:
	default:
		return fmt.Errorf("%w: %#02x", ErrFunction, uint8(m.Function))
	}
	if len(p) < need {
		return ErrTruncated
	}
	return nil
}

// appendHeader writes the header of a datagram with length octets of data.
func appendHeader(b []byte, f Function, length int) []byte {
	return binary.BigEndian.AppendUint16(append(b, version, byte(f)), uint16(header+length))
}

// AppendNPDU writes a datagram that carries an NPDU: OriginalUnicast, OriginalBroadcast or
// DistributeBroadcast.
func AppendNPDU(b []byte, f Function, npdu []byte) []byte {
	return append(appendHeader(b, f, len(npdu)), npdu...)
}

// AppendForwarded writes an NPDU that a BBMD passes on for source (J.2.5).
func AppendForwarded(b []byte, source netip.AddrPort, npdu []byte) []byte {
	return append(appendAddress(appendHeader(b, ForwardedNPDU, address+len(npdu)), source), npdu...)
}

// AppendResult writes the answer of a BBMD.
func AppendResult(b []byte, code ResultCode) []byte {
	return binary.BigEndian.AppendUint16(appendHeader(b, Result, 2), uint16(code))
}

// AppendRegister writes the registration of a foreign device for a time in seconds (J.5.2).
func AppendRegister(b []byte, ttl uint16) []byte {
	return binary.BigEndian.AppendUint16(appendHeader(b, RegisterForeignDevice, 2), ttl)
}

// AppendDelete writes the request to delete a foreign device.
func AppendDelete(b []byte, device netip.AddrPort) []byte {
	return appendAddress(appendHeader(b, DeleteForeignEntry, address), device)
}

// AppendRead writes the request for a table: ReadBroadcastTable or ReadForeignTable.
func AppendRead(b []byte, f Function) []byte { return appendHeader(b, f, 0) }

func readAddress(p []byte) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(p)), binary.BigEndian.Uint16(p[4:]))
}

// appendAddress writes the six octets of a B/IP address; what is no IPv4 address becomes 0.0.0.0.
func appendAddress(b []byte, a netip.AddrPort) []byte {
	ip := a.Addr().Unmap()
	if !ip.Is4() {
		ip = netip.IPv4Unspecified()
	}
	octets := ip.As4()
	return binary.BigEndian.AppendUint16(append(b, octets[:]...), a.Port())
}
