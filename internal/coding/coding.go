// Package coding reads which codings of a content a client of HTTP accepts.
package coding

import "strings"

// Accepts reports whether the header Accept-Encoding names the coding, such as "gzip", and not with the weight 0
// (RFC 9110, section 12.5.3).
func Accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, weighted := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			return !weighted || strings.Trim(strings.TrimPrefix(strings.TrimSpace(weight), "q="), "0.") != ""
		}
	}
	return false
}
