package client

import (
	"voltbus/operation/documents"
)

// NewDocument is the content of a configuration document.
type NewDocument struct {
	Text   string
	Type   string
	Note   string
	Expect *int // the version it is based on, 0 for none; nil for any
}

// Arguments are those of documents.Set and documents.Check.
func (n NewDocument) Arguments(owner, name string) documents.Text {
	return documents.Text{Key: documents.Key{Owner: owner, Name: name}, Text: &n.Text, Type: n.Type, Note: n.Note, Expect: n.Expect}
}
