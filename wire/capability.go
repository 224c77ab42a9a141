package wire

import (
	"slices"
	"strings"

	"voltbus/point"
)

// Capability returns the missing capability of an agent whose publication or subscription of the subject was
// refused, in the form of a grant, such as "publish analysis/x"; "" if it cannot be granted.
func Capability(subject string, publish bool) string {
	verb := "subscribe "
	if publish {
		verb = "publish "
	}
	for _, prefix := range []string{BreadthScanPrefix, BreadthPointPrefix} {
		if rest, ok := strings.CutPrefix(subject, prefix); ok && !publish {
			return verbAnd(verb, reversed(rest))
		}
	}
	for _, prefix := range []string{ScanPrefix, PointPrefix} {
		if rest, ok := strings.CutPrefix(subject, prefix); ok {
			return verbAnd(verb, rest)
		}
	}
	if call, err := ParseCall(subject); err == nil && publish && call.Callee != NodeName {
		return "call " + call.Callee + ":" + call.Method
	}
	if rest, ok := strings.CutPrefix(subject, MessagePrefix); ok {
		if _, topic, more := strings.Cut(rest, "."); more {
			return verbAnd(verb, topic)
		}
	}
	return ""
}

// reversed returns the tokens in reverse order. A pattern that begins with any number of tokens can only be
// granted as everything.
func reversed(tokens string) string {
	list := strings.Split(tokens, ".")
	slices.Reverse(list)
	if list[0] == ">" {
		return ">"
	}
	return strings.Join(list, ".")
}

// verbAnd returns a verb and the pattern of what follows a prefix.
func verbAnd(verb, tokens string) string {
	segments := strings.Split(tokens, ".")
	for i, t := range segments {
		switch {
		case t == "*":
		case t == ">" && i == len(segments)-1:
			segments[i] = "**"
		default:
			s, err := ParseToken(t)
			if err != nil {
				return ""
			}
			segments[i] = s
		}
	}
	pattern := strings.Join(segments, "/")
	if point.Path(pattern).Validate() != nil {
		return ""
	}
	return verb + pattern
}
