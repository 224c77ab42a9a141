package fleetsim

import (
	"strconv"
	"strings"
	"time"
)

// A message is {"at":<Unix nanoseconds of when it was due, 19 digits>,"value":<number>,"pad":"xxx…"}.
const (
	beforeAt    = `{"at":`
	beforeValue = `,"value":`
	beforePad   = `,"pad":"`
	afterPad    = `"}`
	digitsOfAt  = 19
	leastOctets = len(beforeAt) + digitsOfAt + len(beforeValue) + 20 + len(beforePad) + len(afterPad)
)

// appendMessage appends a message of a size.
func appendMessage(dst []byte, due time.Time, value uint64, octets int) []byte {
	from := len(dst)
	dst = strconv.AppendInt(append(dst, beforeAt...), due.UnixNano(), 10)
	dst = strconv.AppendUint(append(dst, beforeValue...), value, 10)
	dst = append(dst, beforePad...)
	for len(dst)-from+len(afterPad) < octets {
		dst = append(dst, 'x')
	}
	return append(dst, afterPad...)
}

// dueOf returns when a message was due.
func dueOf(payload []byte) (time.Time, bool) {
	end := len(beforeAt) + digitsOfAt
	if len(payload) < end || string(payload[:len(beforeAt)]) != beforeAt {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(string(payload[len(beforeAt):end]), 10, 64)
	return time.Unix(0, n), err == nil
}

// named puts the number of a device, and of a topic, into a text.
func named(text string, device, number int) string {
	return strings.NewReplacer("{n}", strconv.Itoa(device), "{k}", strconv.Itoa(number)).Replace(text)
}
