package enrol

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"strconv"
	"strings"

	"rsc.io/qr"

	"voltbus/fault"
	"voltbus/identity/pki"
	"voltbus/identity/registry"
)

// Code is what a person transfers from the parent to the child: the parent's addresses, how to recognise it,
// and the secret of the invitation.
type Code struct {
	Addresses   []string // host:port of the parent's bus, in the order to try
	Fingerprint pki.Fingerprint
	Secret      registry.InviteSecret
}

const (
	codePrefix   = "vb1"
	maxAddresses = 8
	maxAddress   = 255
	maxCode      = 4096 // maximum characters of a code
)

var (
	errCode     = errors.New("is no code of a node; it begins with vb1: copy it whole")
	errCodeSum  = errors.New("was not copied right: a character is missing or wrong; copy it once more, or scan it")
	errAddress  = errors.New("must be host:port, such as campus.example.org:4222")
	errNowhere  = errors.New("needs one to eight addresses of the parent's bus")
	errCodeLong = errors.New("the code is too long for a QR code; give fewer addresses")
)

// CheckAddress returns nil, or a fault.Invalid error that describes valid addresses.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if number, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil || number == 0 || host == "" || len(address) > maxAddress {
		return fault.E("enrol.CheckAddress", fault.Invalid, "address", errAddress)
	}
	return nil
}

// String returns the code as text: vb1 and letters, digits, - and _.
//
//	1 byte   number of addresses
//	each:     1 byte length, the address
//	32 bytes fingerprint
//	16 bytes secret
//	4 bytes  CRC-32 (IEEE) of all before, big endian
func (c *Code) String() string {
	b := []byte{byte(len(c.Addresses))}
	for _, a := range c.Addresses {
		b = append(append(b, byte(len(a))), a...)
	}
	b = append(append(b, c.Fingerprint[:]...), c.Secret[:]...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return codePrefix + base64.RawURLEncoding.EncodeToString(b)
}

// Validate returns what is wrong with a new code.
func (c *Code) Validate() error {
	if len(c.Addresses) == 0 || len(c.Addresses) > maxAddresses {
		return fault.E("enrol.Code", fault.Invalid, "addresses", errNowhere)
	}
	for _, a := range c.Addresses {
		if err := CheckAddress(a); err != nil {
			return err
		}
	}
	return nil
}

// ParseCode is the inverse of String. It ignores white space, which mails and terminals insert. The error
// does not contain the text, which is a secret.
func ParseCode(text string) (*Code, error) {
	const op = "enrol.ParseCode"
	if len(text) > maxCode {
		return nil, fault.E(op, fault.Invalid, "code", errCode)
	}
	rest, ok := strings.CutPrefix(strings.Join(strings.Fields(text), ""), codePrefix)
	if !ok {
		return nil, fault.E(op, fault.Invalid, "code", errCode)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil || len(b) < crc32.Size {
		return nil, fault.E(op, fault.Invalid, "code", errCodeSum)
	}
	body, sum := b[:len(b)-crc32.Size], binary.BigEndian.Uint32(b[len(b)-crc32.Size:])
	if crc32.ChecksumIEEE(body) != sum {
		return nil, fault.E(op, fault.Invalid, "code", errCodeSum)
	}
	c, ok := decode(body)
	if !ok || c.Validate() != nil {
		return nil, fault.E(op, fault.Invalid, "code", errCode)
	}
	return c, nil
}

func decode(b []byte) (*Code, bool) {
	c := &Code{}
	if len(b) == 0 {
		return nil, false
	}
	count := int(b[0])
	for b = b[1:]; count > 0; count-- {
		if len(b) == 0 || len(b) < 1+int(b[0]) {
			return nil, false
		}
		c.Addresses = append(c.Addresses, string(b[1:1+int(b[0])]))
		b = b[1+int(b[0]):]
	}
	if len(b) != len(c.Fingerprint)+len(c.Secret) {
		return nil, false
	}
	c.Fingerprint, c.Secret = pki.Fingerprint(b[:32]), registry.InviteSecret(b[32:])
	return c, true
}

// QR returns the code as a picture: one line per row, "1" for dark, without a margin. A reader needs a light
// margin of four around it.
func (c *Code) QR() ([]string, error) {
	picture, err := qr.Encode(c.String(), qr.L)
	if err != nil {
		return nil, fault.E("enrol.QR", fault.Invalid, "code", fmt.Errorf("%w: %w", errCodeLong, err))
	}
	rows := make([]string, picture.Size)
	for y := range rows {
		row := make([]byte, picture.Size)
		for x := range row {
			row[x] = '0'
			if picture.Black(x, y) {
				row[x] = '1'
			}
		}
		rows[y] = string(row)
	}
	return rows, nil
}
