package pointlist

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gopcua/opcua/ua"
)

// Node is the address of a node that survives a restart of its server: it names the namespace by its URI, whose index a server may
// change (Part 3, clause 8.2).
type Node struct {
	uri   string // "" for an index
	index uint16 // of the namespace, without a URI
	id    string // such as s=Pump.Speed
}

var errNode = errors.New("is no node; write nsu=URI;s=NAME, or i=, g= or b= in place of s= for a number, a GUID or bytes in base64; ns=INDEX is possible, but may change when the server restarts")

// uriEscapes are what a URI in a node's address has in place of characters that have a meaning there (Part 6, clause 5.3.1.11).
var (
	uriEscape   = strings.NewReplacer("%", "%25", ";", "%3B") //nolint:gochecknoglobals // a table
	uriUnescape = strings.NewReplacer("%25", "%", "%3B", ";") //nolint:gochecknoglobals // a table
)

// ParseNode reads an address such as nsu=urn:plant;s=Pump.Speed, ns=2;i=42 or i=2258.
func ParseNode(text string) (Node, error) {
	var n Node
	rest := strings.TrimSpace(text)
	if uri, is := strings.CutPrefix(rest, "nsu="); is {
		uri, id, found := strings.Cut(uri, ";")
		if !found || uri == "" {
			return Node{}, errNode
		}
		n.uri, rest = uriUnescape.Replace(uri), id
	} else if index, is := strings.CutPrefix(rest, "ns="); is {
		index, id, found := strings.Cut(index, ";")
		number, err := strconv.ParseUint(index, 10, 16)
		if !found || err != nil {
			return Node{}, errNode
		}
		n.index, rest = uint16(number), id
	}
	n.id = rest
	if n.make(0) == nil {
		return Node{}, errNode
	}
	return n, nil
}

// make returns the node id in a namespace, nil for one that is not well formed.
func (n Node) make(index uint16) *ua.NodeID {
	kind, id, _ := strings.Cut(n.id, "=")
	switch kind {
	case "i":
		if number, err := strconv.ParseUint(id, 10, 32); err == nil {
			return ua.NewNumericNodeID(index, uint32(number))
		}
	case "s":
		if id != "" {
			return ua.NewStringNodeID(index, id)
		}
	case "g":
		if ua.NewGUID(id) != nil {
			return ua.NewGUIDNodeID(index, id)
		}
	case "b":
		if bytes, err := base64.StdEncoding.DecodeString(id); err == nil && len(bytes) > 0 {
			return ua.NewByteStringNodeID(index, bytes)
		}
	}
	return nil
}

// Resolve returns the node id for a server with an array of namespaces.
func (n Node) Resolve(namespaces []string) (*ua.NodeID, error) {
	index := n.index
	if n.uri != "" {
		at := slices.Index(namespaces, n.uri)
		if at < 0 {
			return nil, fmt.Errorf("the server has no namespace %q; it has %s", n.uri, strings.Join(quoted(namespaces), ", "))
		}
		index = uint16(at) //nolint:gosec // a server has less than 65536
	}
	return n.make(index), nil
}

func quoted(list []string) []string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = strconv.Quote(text)
	}
	return out
}

// String returns the address as ParseNode reads it.
func (n Node) String() string {
	switch {
	case n.uri != "":
		return "nsu=" + uriEscape.Replace(n.uri) + ";" + n.id
	case n.index != 0:
		return "ns=" + strconv.Itoa(int(n.index)) + ";" + n.id
	}
	return n.id
}

// NodeOf returns the address of a node id of a server with an array of namespaces.
func NodeOf(id *ua.NodeID, namespaces []string) Node {
	n := Node{index: id.Namespace()}
	if i := int(id.Namespace()); i > 0 && i < len(namespaces) && namespaces[i] != "" {
		n.uri, n.index = namespaces[i], 0
	}
	switch id.Type() {
	case ua.NodeIDTypeString:
		n.id = "s=" + id.StringID()
	case ua.NodeIDTypeGUID:
		n.id = "g=" + id.StringID()
	case ua.NodeIDTypeByteString:
		n.id = "b=" + id.StringID()
	default:
		n.id = "i=" + strconv.FormatUint(uint64(id.IntID()), 10)
	}
	return n
}
