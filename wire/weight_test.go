package wire_test

import (
	"strings"
	"testing"

	"voltbus/fault"
	"voltbus/wire"
)

func listOf(n int, value string) []byte {
	return []byte(`{"kwargs":{"a":[` + strings.Repeat(value+",", n) + value + `]}}`)
}

func TestAttackATextOfManySmallValuesIsHeavy(t *testing.T) {
	for name, text := range map[string][]byte{
		"objects": listOf(2_700_000, "{}"), "numbers": listOf(4_100_000, "1"), "texts": listOf(2_700_000, `""`), "lists": listOf(2_700_000, "[]"),
		"objects behind a quote": listOf(2_700_000, "{}")[1:], "objects behind an escaped quote": append([]byte(`{"x":"\"",`), listOf(2_700_000, "{}")[1:]...),
	} {
		if err := wire.Readable("x", text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s of %d bytes weigh %d: %v", name, len(text), wire.Weight(text), err)
		}
	}
}

func TestWhatAgentsSendIsReadable(t *testing.T) {
	for name, text := range map[string][]byte{
		"100,000 samples":        listOf(100_000, `{"point":"campus/hall/temp","time":"2026-01-31T12:00:00Z","value":21.5,"quality":"good"}`),
		"a table in a text":      listOf(1, `"`+strings.Repeat(`1,{\"2\",`, 900_000)+`"`),
		"a long text":            listOf(1, `"`+strings.Repeat("x", 8_000_000)+`"`),
		"a text that is no JSON": []byte(strings.Repeat("x", 8_000_000)),
		"nothing":                nil,
	} {
		if err := wire.Readable("x", text); err != nil {
			t.Errorf("%s of %d bytes weighs %d: %v", name, len(text), wire.Weight(text), err)
		}
	}
}
