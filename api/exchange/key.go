package exchange

import (
	"errors"

	"voltbus/fault"
)

const (
	// HeaderKey is the header that makes a repeat of a request harmless.
	HeaderKey = "Idempotency-Key"
	maxKey    = 255
)

var errKey = errors.New("an idempotency key has 1 to 255 printable ASCII characters")

// Key returns the idempotency key of a request, "" if it has none.
func (r *Request) Key() (string, error) {
	key := r.Header.Get(HeaderKey)
	if _, given := r.Header[HeaderKey]; given && !validKey(key) {
		return "", fault.E("api.key", fault.Invalid, HeaderKey, errKey)
	}
	return key, nil
}

func validKey(key string) bool {
	for _, c := range []byte(key) {
		if c < 0x20 || c >= 0x7f {
			return false
		}
	}
	return key != "" && len(key) <= maxKey
}
