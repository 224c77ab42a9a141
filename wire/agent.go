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
	NewsPrefix    = "news."   // + receiver, kind: news from the node to an agent
)

// NodeName is the node's name as sender and receiver; no agent can have this name.
const NodeName = "node"

// CallerHeader is the header in which the node's requests name the caller, such as agent:campus/weather: an
// identity.Principal of another node. It is ignored in requests of other senders.
const CallerHeader = "Voltbus-Caller"

// The kinds of news.
const (
	NewsStanding = "standing" // the grants changed
	NewsConfig   = "config"   // a document changed
	NewsStop     = "stop"     // request to end
	NewsAlert    = "alert"    // a person cleared an alert, {"key":…}; raise it again if it persists, otherwise report it as cleared
)

var (
	errToken = errors.New("not a token of a subject")
	errCall  = errors.New("not the subject of a request")
)

// Token returns a name as one token of a subject: "." becomes "%2E", and everything else that a token cannot
// contain, including slashes, is percent-encoded.
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

// CallSubject is the subject of a caller's request for a method of an agent, or of the node.
func CallSubject(callee, caller, method string) string {
	return CallPrefix + Token(callee) + "." + Token(caller) + "." + Token(method)
}

// Call is the content of a request's subject, with unescaped names.
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

// IsInbox reports whether an answer to a caller may be sent to a subject: it must be an inbox of the caller,
// or any inbox if the node is the caller. A caller names the reply subject, and a responder that does not
// check it would publish there with its own rights.
func IsInbox(reply, caller string) bool {
	own := InboxPrefix
	if caller != NodeName {
		own += Token(caller) + "."
	}
	rest, found := strings.CutPrefix(reply, own)
	return found && rest != "" && !strings.ContainsAny(rest, "*> \t\r\n")
}

// MessageSubject is the subject of an agent's message on a topic.
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

// NewsSubject is the subject of news of a kind for an agent.
func NewsSubject(name, kind string) string { return NewsPrefix + Token(name) + "." + Token(kind) }
