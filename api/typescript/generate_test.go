package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheTypesOfThePageAreThoseOfTheDocument(t *testing.T) {
	root := filepath.Join("..", "..")
	document, err := os.ReadFile(filepath.Join(root, documentFile))
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate(document)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, typesFile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is out of date: run make generate\n%s", typesFile, diff)
	}
}

func TestSchemasBecomeTypes(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"a text", "{ type: string }", `export type X = string;`},
		{"a number or none", `{ type: [integer, "null"] }`, `export type X = number | null;`},
		{"a choice", "{ type: string, enum: [a, b] }", `export type X = "a" | "b";`},
		{"anything", "{ description: Of any kind }", "/** Of any kind */\nexport type X = unknown;"},
		{"a description that ends the comment", `{ description: "*/ x", type: string }`, "/** * / x */\nexport type X = string;"},
		{"a list of a choice", `{ type: array, items: { type: [number, "null"] } }`, `export type X = (number | null)[];`},
		{"a tuple", "{ type: array, minItems: 1, prefixItems: [{ type: number }, { type: string }] }", `export type X = [number, string?];`},
		{"a map", `{ type: object, additionalProperties: { $ref: "#/components/schemas/Y" } }`, `export type X = Record<string, Y>;`},
		{"an open object", "{ type: object }", `export type X = Record<string, unknown>;`},
		{
			"an object", `{ type: object, required: [b], properties: { b: { type: string }, a: { type: object, properties: { c: { const: on } } } } }`,
			"export interface X {\n  b: string;\n  a?: {\n    c?: \"on\";\n  };\n}",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := generate([]byte("components: { schemas: { X: " + tt.schema + " } }"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.TrimSpace(strings.TrimPrefix(string(got), head))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := generate([]byte("openapi: 3.1.0")); err == nil {
		t.Error("a document without schemas gives types")
	}
}
