package soap

import (
	"encoding/xml"
	"strconv"
	"strings"

	"voltbus/meter/message"
)

// Answer writes what became of the readings of a request.
func (r *Request) Answer(a *message.Answer) []byte {
	var b strings.Builder
	b.Grow(512 + 96*len(a.Refused))
	open(&b, r.Version)
	b.WriteString(`<` + r.Operation + `Response xmlns="` + Namespace + `"><accepted>`)
	b.WriteString(strconv.Itoa(a.Accepted))
	b.WriteString(`</accepted>`)
	for _, refused := range a.Refused {
		b.WriteString(`<refused index="` + strconv.Itoa(refused.Index) + `" reason="`)
		escape(&b, refused.Reason)
		b.WriteString(`"/>`)
	}
	b.WriteString(`</` + r.Operation + `Response></env:Body></env:Envelope>`)
	return []byte(b.String())
}

func open(b *strings.Builder, v Version) {
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<env:Envelope xmlns:env="` + v.envelope() + `"><env:Body>`)
}

// escape writes text for a value or content.
func escape(b *strings.Builder, text string) { _ = xml.EscapeText(b, []byte(text)) } // a builder takes everything

// Message writes a fault in a version of the protocol.
func (f *Fault) Message(v Version) []byte {
	var b strings.Builder
	open(&b, v)
	if v == V12 {
		b.WriteString(`<env:Fault><env:Code><env:Value>env:` + f.Code + `</env:Value></env:Code><env:Reason><env:Text xml:lang="en">`)
		escape(&b, f.Reason)
		b.WriteString(`</env:Text></env:Reason></env:Fault>`)
	} else {
		code := map[string]string{"Sender": "Client", "Receiver": "Server"}[f.Code]
		if code == "" {
			code = f.Code
		}
		b.WriteString(`<env:Fault><faultcode>env:` + code + `</faultcode><faultstring>`)
		escape(&b, f.Reason)
		b.WriteString(`</faultstring></env:Fault>`)
	}
	b.WriteString(`</env:Body></env:Envelope>`)
	return []byte(b.String())
}

// Status returns the status of HTTP with which a fault is sent: SOAP 1.1 §6.2, SOAP 1.2 part 2 §7.5.2.2.
func (f *Fault) Status(v Version) int {
	if v == V12 && f.Code == "Sender" {
		return 400
	}
	return 500
}
