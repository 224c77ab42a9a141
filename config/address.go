package config

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// Address is where a part listens: host and port, such as "127.0.0.1:8080". No host is every interface, port 0 any free port; empty: it does not listen.
type Address string

// off is the text of an empty Address.
const off = "off"

var errAddressEmpty = errors.New("is empty; write an address such as 127.0.0.1:8080, or off")

// UnmarshalText parses an address or "off".
func (a *Address) UnmarshalText(text []byte) error {
	s := string(text)
	switch s {
	case off:
		*a = ""
		return nil
	case "":
		return errAddressEmpty
	}
	if _, err := strconv.ParseUint(s, 10, 16); err == nil {
		return fmt.Errorf("%q has no host; write 127.0.0.1:%s for this machine alone, or :%s for everyone", s, s, s)
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%q is not an address; write host and port such as 127.0.0.1:8080 or [::1]:8080, or off", s)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("port %q is not possible; write a number from 0 to 65535", port)
	}
	*a = Address(s)
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// String returns the address in the form of the file, "off" for none.
func (a Address) String() string {
	if a.Off() {
		return off
	}
	return string(a)
}

// Off reports whether the part does not listen.
func (a Address) Off() bool { return a == "" }
