package bus

import (
	"strconv"
	"strings"
)

// Violation is something that a connection tried and may not.
type Violation struct {
	Name    string // who it is
	Key     string // the public key
	Subject string
	Publish bool   // otherwise it is a subscription
	Count   uint64 // how often since it was told last, 1 or more
	// Flood says that the connection was closed because it sent too much; there is no subject
	// then.
	Flood string
	// Conflict says that a connection was kept in quarantine, as the second one with an exclusive name, or as one
	// with a key that was replaced or has expired; there is no subject then.
	Conflict   string
	Quarantine string // of a conflict: the word of Quarantine that says about what
	Address    string // of a conflict: where the connection comes from
}

// trespass is a violation as the server reports it.
type trespass struct {
	id         uint64
	subject    string
	publish    bool
	quarantine string // why it was kept in quarantine; there is no subject then
}

// The words of the server's reports. Those of publishing are formats, those of subscriptions are
// whole lines, though the server hands them on as formats too.
const (
	wordsID        = " - cid:"
	wordsPublish   = "Publish Violation - Subject %q"
	wordsReply     = "Publish Violation - Reply %q"
	wordsSubscribe = "Subscription Violation - Subject "
	wordsDeep      = "Subscription Violation Too Many Tokens - Subject "
)

// parseTrespass reads what the server reports as an error; false if it is another one. The format
// begins with the connection's address and number and goes on with names that a client may choose,
// so it is read from both ends and never formatted.
func parseTrespass(format string, v []any) (trespass, bool) {
	var t trespass
	_, digits, found := strings.Cut(format, wordsID)
	if !found {
		return t, false
	}
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	var err error
	if t.id, err = strconv.ParseUint(digits, 10, 64); err != nil {
		return t, false
	}
	if len(v) == 1 && (strings.HasSuffix(format, wordsPublish) || strings.HasSuffix(format, wordsReply)) {
		subject, ok := v[0].([]byte)
		t.publish, t.subject = true, string(subject)
		return t, ok
	}
	for _, words := range []string{wordsSubscribe, wordsDeep} {
		if i := strings.LastIndex(format, words); i >= 0 && len(v) == 0 {
			quoted, err := strconv.QuotedPrefix(format[i+len(words):])
			if err != nil {
				return t, false
			}
			t.subject, err = strconv.Unquote(quoted)
			return t, err == nil
		}
	}
	return t, false
}
