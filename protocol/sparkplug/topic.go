package sparkplug

import (
	"errors"
	"strings"
)

// Namespace begins the topics of Sparkplug B.
const Namespace = "spBv1.0"

// Type is the kind of a message.
type Type string

// The kinds of messages (chapter 4).
const (
	NBIRTH Type = "NBIRTH" // an edge node is there, with its metrics
	NDEATH Type = "NDEATH" // its connection ended
	DBIRTH Type = "DBIRTH" // a device of an edge node is there
	DDEATH Type = "DDEATH"
	NDATA  Type = "NDATA"
	DDATA  Type = "DDATA"
	NCMD   Type = "NCMD" // a command to an edge node
	DCMD   Type = "DCMD" // a command to a device
	STATE  Type = "STATE"
)

// Topic is a topic of Sparkplug B.
type Topic struct {
	Group  string
	Type   Type
	Node   string
	Device string // "" for a message of an edge node
	Host   string // of STATE
}

var errTopic = errors.New("is not a topic of Sparkplug B")

// ParseTopic reads spBv1.0/GROUP/TYPE/NODE[/DEVICE] or spBv1.0/STATE/HOST.
func ParseTopic(text string) (Topic, error) {
	rest, is := strings.CutPrefix(text, Namespace+"/")
	if !is {
		return Topic{}, errTopic
	}
	parts := strings.Split(rest, "/")
	if len(parts) == 2 && Type(parts[0]) == STATE && parts[1] != "" {
		return Topic{Type: STATE, Host: parts[1]}, nil
	}
	if len(parts) < 3 || len(parts) > 4 || parts[0] == "" || parts[2] == "" || len(parts) == 4 && parts[3] == "" {
		return Topic{}, errTopic
	}
	t := Topic{Group: parts[0], Type: Type(parts[1]), Node: parts[2]}
	if len(parts) == 4 {
		t.Device = parts[3]
	}
	switch t.Type {
	case NBIRTH, NDEATH, NDATA, NCMD:
		if t.Device != "" {
			return Topic{}, errTopic
		}
	case DBIRTH, DDEATH, DDATA, DCMD:
		if t.Device == "" {
			return Topic{}, errTopic
		}
	case STATE:
		return Topic{}, errTopic
	default:
		return Topic{}, errTopic
	}
	return t, nil
}

// String writes the topic.
func (t Topic) String() string {
	if t.Type == STATE {
		return Namespace + "/STATE/" + t.Host
	}
	text := Namespace + "/" + t.Group + "/" + string(t.Type) + "/" + t.Node
	if t.Device != "" {
		text += "/" + t.Device
	}
	return text
}
