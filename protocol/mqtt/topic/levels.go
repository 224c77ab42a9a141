package topic

import "strings"

// levels is a tree of topic levels in few large allocations: an edge is a place in one map, and a
// node a place in one slice, so that millions of nodes are two objects to the collector.
type levels struct {
	nodes []node
	edges map[edge]nodeID
	free  nodeID // the first unused node; the others follow by next
}

// nodeID is a place in levels.nodes. 0 is the root.
type nodeID uint32

// none stands for no node: the root is nobody's child.
const none nodeID = 0

// edge leads from a node to its child.
type edge struct {
	from  nodeID
	level string
}

// node is a level of a topic. Its children are a list.
type node struct {
	parent, child, next, prev nodeID
	any, rest                 nodeID // the children + and #, which are not in edges

	value uint32 // what is kept here, 0 for nothing
	kids  uint32
	// hidden says that the level begins with $ and is the first one.
	hidden bool
}

func newLevels() levels {
	return levels{nodes: make([]node, 1), edges: make(map[edge]nodeID)}
}

// down returns the child of a node, or none. The conversion does not allocate.
func (l *levels) down(from nodeID, level []byte) nodeID { return l.edges[edge{from, string(level)}] }

// child returns the child of a node, or none.
func (l *levels) child(from nodeID, level string) nodeID {
	switch level {
	case "+":
		return l.nodes[from].any
	case "#":
		return l.nodes[from].rest
	default:
		return l.edges[edge{from, level}]
	}
}

// join makes a node the child of another, or with none nobody.
func (l *levels) join(from nodeID, level string, id nodeID) {
	switch {
	case level == "+":
		l.nodes[from].any = id
	case level == "#":
		l.nodes[from].rest = id
	case id == none:
		delete(l.edges, edge{from, level})
	default:
		l.edges[edge{from, level}] = id
	}
}

// find returns the node of a topic.
func (l *levels) find(topic string) (nodeID, bool) {
	at := nodeID(0)
	for {
		level, rest, more := strings.Cut(topic, "/")
		next := l.child(at, level)
		if next == none {
			return none, false
		}
		if at = next; !more {
			return at, true
		}
		topic = rest
	}
}

// make returns the node of a topic, which it makes if need be. It keeps the string.
func (l *levels) make(topic string) nodeID {
	at := nodeID(0)
	for {
		level, rest, more := strings.Cut(topic, "/")
		next := l.child(at, level)
		if next == none {
			next = l.add(at, level)
		}
		if at = next; !more {
			return at
		}
		topic = rest
	}
}

func (l *levels) add(parent nodeID, level string) nodeID {
	id := l.free
	if id != none {
		l.free = l.nodes[id].next
	} else {
		id = nodeID(len(l.nodes))
		l.nodes = append(l.nodes, node{})
	}
	p := &l.nodes[parent]
	l.nodes[id] = node{parent: parent, next: p.child, hidden: parent == 0 && strings.HasPrefix(level, "$")}
	if p.child != none {
		l.nodes[p.child].prev = id
	}
	p.child = id
	p.kids++
	l.join(parent, level, id)
	return id
}

// prune removes the node of a topic and its ancestors as far as nothing is kept there. Once
// nothing at all is left, the memory is given up.
func (l *levels) prune(topic string, id nodeID) {
	for id != 0 && l.nodes[id].value == 0 && l.nodes[id].kids == 0 {
		n := l.nodes[id]
		i := strings.LastIndexByte(topic, '/')
		l.join(n.parent, topic[i+1:], none)
		topic = topic[:max(i, 0)]
		if n.prev != none {
			l.nodes[n.prev].next = n.next
		} else {
			l.nodes[n.parent].child = n.next
		}
		if n.next != none {
			l.nodes[n.next].prev = n.prev
		}
		l.nodes[n.parent].kids--
		l.nodes[id] = node{next: l.free}
		l.free = id
		id = n.parent
	}
	if l.nodes[0].kids == 0 {
		*l = newLevels()
	}
}
