package encoding

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Character sets of a character string (clause 20.2.9).
const (
	charsetUTF8   = 0
	charsetDBCS   = 1 // IBM/Microsoft DBCS, with a code page
	charsetJIS    = 2
	charsetUCS4   = 3
	charsetUCS2   = 4
	charsetLatin1 = 5
)

// decodeText turns a character string into UTF-8. Octets that the character set does not
// have become U+FFFD; devices label Latin-1 as UTF-8 often enough that text which is no
// UTF-8 is read as Latin-1.
func decodeText(p []byte) (string, error) {
	if len(p) == 0 {
		return "", fmt.Errorf("%w: a character string without a character set", ErrLength)
	}
	charset, p := p[0], p[1:]
	switch charset {
	case charsetUTF8:
		if utf8.Valid(p) {
			return string(p), nil
		}
		return latin1(p), nil
	case charsetDBCS:
		if len(p) < 2 {
			return "", fmt.Errorf("%w: a character string without its code page", ErrLength)
		}
		return latin1(p[2:]), nil
	case charsetUCS4:
		runes := make([]rune, len(p)/4)
		for i := range runes {
			runes[i] = rune(binary.BigEndian.Uint32(p[4*i:]))
		}
		return string(runes), nil
	case charsetUCS2:
		units := make([]uint16, len(p)/2)
		for i := range units {
			units[i] = binary.BigEndian.Uint16(p[2*i:])
		}
		return string(utf16.Decode(units)), nil
	case charsetLatin1:
		return latin1(p), nil
	}
	return ascii(p), nil
}

func latin1(p []byte) string {
	runes := make([]rune, len(p))
	for i, c := range p {
		runes[i] = rune(c)
	}
	return string(runes)
}

// ascii keeps what all character sets share.
func ascii(p []byte) string {
	runes := make([]rune, len(p))
	for i, c := range p {
		if runes[i] = rune(c); c >= 0x80 {
			runes[i] = utf8.RuneError
		}
	}
	return string(runes)
}
