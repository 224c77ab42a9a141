package head

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"voltbus/audit"
)

// Own is what this node reports to its parent about the end of its audit log: the head, and the node's signature. "" without a log.
func (h *Heads) Own() string {
	end := h.opts.Audit.Status().Head
	if end.Seq == 0 {
		return ""
	}
	sig, err := h.opts.Sign(message(end))
	if err != nil {
		return ""
	}
	return end.String() + ":" + base64.RawURLEncoding.EncodeToString(sig)
}

// message returns the bytes of a head that a node signs.
func message(end audit.Head) []byte { return []byte("voltbus audit head " + end.String()) }

// signed reports whether this node signed the head.
func (h *Heads) signed(end audit.Head, sig []byte) bool {
	own, err := h.opts.Sign(message(end))
	return err == nil && slices.Equal(own, sig)
}

var errHead = errors.New("is not where an audit log ended, with a signature")

// split parses the output of Own.
func split(text string) (end audit.Head, sig []byte, err error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return end, nil, errHead
	}
	if end, err = audit.ParseHead(text[:at]); err != nil {
		return end, nil, err
	}
	sig, err = base64.RawURLEncoding.DecodeString(text[at+1:])
	return end, sig, err
}
