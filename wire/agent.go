package wire

import (
	"errors"
	"strings"

	"voltbus/point"
)

// The first tokens of the subjects of agents.
const (
	MessagePrefix = "msg."    // + sender, topic: free messages
	CallPrefix    = "rpc."    // + callee, caller, method: requests
	InboxPrefix   = "_INBOX." // + receiver: replies
	NewsPrefix    = "news."   // + receiver, kind: what the node tells an agent
)

// NodeName is what the node is called as sender and receiver; no agent can have this name.
const NodeName = "node"

// CallerHeader is the header of a request of the node in which it says for whom it asks, such as
// agent:campus/weather: an identity.Principal of another node. In requests of anybody else it means
// nothing.
const CallerHeader = "Voltbus-Caller"

// The kinds of news.
const (
	NewsStanding = "standing" // the grants changed
	NewsConfig   = "config"   // a document changed
	NewsStop     = "stop"     // please end
	NewsAlert    = "alert"    // a person cleared an alert, {"key":…}; raise it again if it lasts, else say that it is cleared
)

var (
	errToken = errors.New("not a token of a subject")
	errCall  = errors.New("not the subject of a request")
)

// Token returns a name as one token of a subject: "." becomes "%2E", and whatever else a token
// cannot hold, a slash too, is percent-encoded.
func Token(name string) string {
	if !strings.Contains(name, "/") {
		return Subject("", point.Path(name))
	}
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if p != "" {
			parts[i] = Subject("", point.Path(p))
		}
	}
	return strings.Join(parts, "%2F")
}

// ParseToken is the inverse of Token.
func ParseToken(token string) (string, error) {
	if token == "" || strings.Contains(token, ".") {
		return "", errToken
	}
	return unescape(token)
}

// CallSubject is where a caller sends a request for a method of an agent, or of the node.
func CallSubject(callee, caller, method string) string {
	return CallPrefix + Token(callee) + "." + Token(caller) + "." + Token(method)
}

// Call is what the subject of a request says: names as they are, not escaped.
type Call struct{ Callee, Caller, Method string }

// ParseCall is the inverse of CallSubject.
func ParseCall(subject string) (Call, error) {
	rest, found := strings.CutPrefix(subject, CallPrefix)
	tokens := strings.Split(rest, ".")
	if !found || len(tokens) != 3 {
		return Call{}, errCall
	}
	for i, t := range tokens {
		name, err := ParseToken(t)
		if err != nil {
			return Call{}, errCall
		}
		tokens[i] = name
	}
	return Call{tokens[0], tokens[1], tokens[2]}, nil
}

// IsInbox reports whether an answer to a caller may be sent to a subject: it is an inbox of the
// caller, or any inbox if the node asks. A caller names where it wants its answer, and whoever
// answers without looking publishes there with the own rights.
func IsInbox(reply, caller string) bool {
	own := InboxPrefix
	if caller != NodeName {
		own += Token(caller) + "."
	}
	rest, found := strings.CutPrefix(reply, own)
	return found && rest != "" && !strings.ContainsAny(rest, "*> \t\r\n")
}

// MessageSubject is where an agent sends a message on a topic.
func MessageSubject(from string, topic point.Path) string {
	return Subject(MessagePrefix+Token(from)+".", topic)
}

// ParseMessage is the inverse of MessageSubject.
func ParseMessage(subject string) (from string, topic point.Path, err error) {
	rest, found := strings.CutPrefix(subject, MessagePrefix)
	token, _, more := strings.Cut(rest, ".")
	if !found || !more {
		return "", "", errSubject
	}
	if from, err = ParseToken(token); err != nil {
		return "", "", err
	}
	topic, err = ParseSubject(MessagePrefix+token+".", subject)
	return from, topic, err
}

// NewsSubject is where the node tells an agent something of a kind.
func NewsSubject(name, kind string) string { return NewsPrefix + Token(name) + "." + Token(kind) }
